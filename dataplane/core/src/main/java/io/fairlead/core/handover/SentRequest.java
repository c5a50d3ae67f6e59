package io.fairlead.core.handover;

import org.jspecify.annotations.Nullable;

/**
 * A request at an endpoint that was sent there for its answer, its prompt or both. Reading it is
 * for any thread.
 *
 * @param number among those of the picker that has sent it: each is higher than all before
 * @param age nanoseconds since it was sent, when it was told
 * @param load what it takes up
 * @param computed whether its prompt is
 * @param end how it ended; null while it is there
 * @param prompt its blocks
 */
public record SentRequest(
    long number, long age, Load load, boolean computed, News.@Nullable End end, Prompt prompt) {

  /**
   * What a request takes up where it is.
   *
   * @param tokens of its prompt
   * @param cached those of them that were believed to be cached
   * @param answers sequences that run for it
   * @param computes whether its prompt is computed there
   */
  public record Load(
      int tokens, int cached, int answers, boolean critical, boolean sheddable, boolean computes) {}

  /**
   * Blocks that an endpoint holds of a prompt once that is computed, hashed and salted by its model
   * when they are asked for.
   */
  public static final class Prompt {

    /** Of nothing. */
    public static final Prompt NONE = new Prompt(0, new long[0], 0);

    private final long salt;
    private final long[] blocks;
    private final int count;

    /**
     * @param salt of its target model
     * @param blocks chained hashes, without it; not copied, and not changed any more
     * @param count how many of these it is, from the first on
     */
    public Prompt(long salt, long[] blocks, int count) {
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
  }
}
