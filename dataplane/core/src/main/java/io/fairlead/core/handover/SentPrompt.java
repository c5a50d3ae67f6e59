package io.fairlead.core.handover;

import java.util.Arrays;

/**
 * A prompt that was sent to an endpoint, which holds it from then on. Unlike its making, reading it
 * is for any thread.
 */
public final class SentPrompt {

  private final long salt;
  private final long[] blocks;
  private final int count;

  /**
   * @param salt of its target model
   * @param blocks chained hashes, without it; not copied, and not changed any more
   * @param count how many of these it is, from the first on
   */
  public SentPrompt(long salt, long[] blocks, int count) {
    this.salt = salt;
    this.blocks = blocks;
    this.count = count;
  }

  /** Blocks that it has. */
  public int count() {
    return count;
  }

  /** Salted hashes of its blocks. */
  public long[] salted() {
    long[] salted = new long[count];
    for (int i = 0; i < count; i++) {
      salted[i] = blocks[i] ^ salt;
    }
    return salted;
  }

  /** Whether it is of these blocks, hashed without a salt, and of the model with this one. */
  public boolean isOf(long ofModel, long[] hashes) {
    return salt == ofModel && Arrays.equals(blocks, hashes);
  }
}
