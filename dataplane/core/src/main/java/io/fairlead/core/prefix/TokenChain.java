package io.fairlead.core.prefix;

import com.dynatrace.hash4j.hashing.Hashing;

/**
 * Chained hashes over a model's token ids: a state stands for all tokens up to one. Of our own, so
 * that what an engine hashes its blocks with, and with which seed, need not be known: both prompts
 * and the tokens that an engine's events tell go through it.
 */
public final class TokenChain {

  /** Before the first token. */
  public static final long ROOT = 0x9E3779B97F4A7C15L;

  private TokenChain() {}

  /** The state after one token more. */
  public static long next(long state, int token) {
    long z = (Long.rotateLeft(state, 29) ^ (token & 0xFFFF_FFFFL)) * 0xD6E8FEB86659FD93L;
    return z ^ (z >>> 32);
  }

  /** What makes the blocks of a LoRA adapter others than those of its base; 0 for the base. */
  public static long salt(String adapter) {
    return adapter.isEmpty() ? 0 : Hashing.wyhashFinal4().hashCharsToLong(adapter);
  }
}
