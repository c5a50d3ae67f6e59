package io.fairlead.plugin;

import org.jspecify.annotations.Nullable;

/** What a plugin may know of the request that is being scheduled. Never its text. */
public interface InferenceRequest {

  /** The model as the client asked for it; empty for calls that name none. */
  String model();

  /** What the model servers will be asked for. */
  String targetModel();

  /** Prompt length in tokens, estimated. */
  int promptTokens();

  /**
   * Length of the prompt in whole hash blocks, no more than the config lets the index know: what
   * {@link Candidates#matchedBlocks} is a part of.
   */
  int blockCount();

  /**
   * The request's own limit on output tokens, or -1 when it sets none; 0 for calls whose answers
   * have no tokens, such as embeddings.
   */
  int maxOutputTokens();

  /** When it is being decided about, in nanoseconds of a clock that only goes forward. */
  long now();

  /**
   * When its first token is wanted, in nanoseconds as {@link #now}, which may be past it; {@link
   * WaitingRequest#NEVER} where the request asks for no time, or may not.
   */
  default long firstTokenBy() {
    return WaitingRequest.NEVER;
  }

  /**
   * Nanoseconds from token to token that are wanted; {@link WaitingRequest#NEVER} where the request
   * asks for no pace, or may not.
   */
  default long timePerOutputToken() {
    return WaitingRequest.NEVER;
  }

  /** Whether its model is critical. */
  boolean critical();

  /** Whether its model is sheddable. */
  boolean sheddable();

  /** First value of a request header, or null. Names are lower case. */
  @Nullable String header(String name);

  /**
   * Hash of the prompt up to the block at the largest power of two: the same for prompts that share
   * most of themselves, in every picker. A hash of the target model for prompts below one block.
   */
  long prefixKey();

  /** Notes of plugins about this request, for one another; empty when the profiles start. */
  CycleState cycle();

  /** Random bits of this request: the only source of randomness that a plugin may use. */
  long seed();

  /**
   * A number from 0 to {@code bound - 1} drawn from {@link #seed()}, each as likely as another. The
   * same purpose gives the same number again; different purposes give independent ones.
   *
   * @param purpose any constant of the caller's own
   * @param bound above 0
   */
  default long draw(long purpose, long bound) {
    if (bound <= 0) {
      throw new IllegalArgumentException("bound is " + bound + "; must be above 0");
    }
    // The output function of SplitMix64 over a point that differs by purpose; the high half of the
    // product maps 64 random bits to the range without a division and without a notable bias.
    long z = seed() + (purpose + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return Math.unsignedMultiplyHigh(z ^ (z >>> 31), bound);
  }
}
