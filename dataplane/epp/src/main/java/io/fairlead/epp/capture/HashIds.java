package io.fairlead.epp.capture;

import io.fairlead.core.RequestFacts;
import io.fairlead.core.account.TokenEstimate;

/**
 * A prompt's blocks in the size of Mooncake's traces, as whole numbers that any reader can keep.
 */
final class HashIds {

  private static final int PER_ID = CaptureFields.HASH_ID_TOKENS / TokenEstimate.USUAL_BLOCK_TOKENS;

  /** Of 64 bits, what is left over a double's 53: many readers know no other numbers. */
  private static final int TOO_MANY_BITS = 11;

  private HashIds() {}

  /**
   * One for each begun block: of the last hash in it, or, where the prompt was not hashed that far,
   * one that nobody else has.
   */
  static long[] of(RequestFacts facts) {
    long[] blocks = facts.blocks();
    long[] ids = new long[Math.ceilDiv(inputLength(facts), CaptureFields.HASH_ID_TOKENS)];
    for (int i = 0; i < ids.length; i++) {
      int last = Math.min((i + 1) * PER_ID, blocks.length) - 1;
      long hash = last >= i * PER_ID ? blocks[last] : mix(facts.seed() + i);
      ids[i] = hash >>> TOO_MANY_BITS;
    }
    return ids;
  }

  /**
   * Length of the prompt in tokens as blocks are cut, whatever has been learned of its model's: ids
   * and length belong together.
   */
  static int inputLength(RequestFacts facts) {
    return TokenEstimate.usual(facts.prompt().textBytes(), facts.prompt().mediaTokens());
  }

  /** Stafford's thirteenth mixer: every bit of the input reaches every bit of the output. */
  static long mix(long bits) {
    long z = (bits ^ (bits >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
