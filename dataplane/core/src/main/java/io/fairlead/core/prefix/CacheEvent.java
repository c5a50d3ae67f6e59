package io.fairlead.core.prefix;

/** What an engine says has happened to its KV cache. */
public sealed interface CacheEvent {

  /**
   * Blocks are there that follow each other.
   *
   * @param blocks the engine's own hashes of them, in whatever way it makes them
   * @param hasParent whether they follow another block; else they begin a prompt
   * @param parent the engine's hash of that one
   * @param tokens of all blocks
   * @param blockTokens tokens of each block
   * @param adapter the LoRA adapter that computed them; empty for the base model
   * @param alien whether they hold something that can't be seen in the tokens, such as an image: no
   *     prompt is believed to match them, nor what follows them
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over, not compared
  record Stored(
      long[] blocks,
      boolean hasParent,
      long parent,
      int[] tokens,
      int blockTokens,
      String adapter,
      boolean alien)
      implements CacheEvent {

    public Stored {
      if (blockTokens < 1 || tokens.length != (long) blocks.length * blockTokens) {
        throw new IllegalArgumentException(
            tokens.length
                + " tokens are not those of "
                + blocks.length
                + " blocks of "
                + blockTokens);
      }
    }
  }

  /**
   * Blocks are gone.
   *
   * @param blocks the engine's hashes
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over, not compared
  record Removed(long[] blocks) implements CacheEvent {}

  /** All blocks are gone. */
  record Cleared() implements CacheEvent {}
}
