package io.fairlead.core.prefix;

/**
 * Chained hashes over the prompt's bytes, one per whole block: {@code h[i]} stands for everything
 * up to and including block {@code i}. Knows no model: the core salts hashes by target model at
 * look-up. Not thread-safe; one per connection loop, reused.
 */
public final class BlockHasher {

  /** Bytes of prompt per block: 16 tokens of about 4 bytes, the usual KV block. */
  public static final int BLOCK_BYTES = 64;

  /**
   * A hasher with no prompt yet.
   *
   * @param maxBlocks longest prefix that is hashed; the rest of a prompt is ignored
   */
  public BlockHasher(int maxBlocks) {}

  /** Starts a prompt. */
  public void reset() {
    throw new UnsupportedOperationException();
  }

  /** Adds prompt bytes; how they are cut into calls makes no difference. */
  public void add(byte[] bytes, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  /** Hashes of the whole blocks so far, in a new array. */
  public long[] blocks() {
    throw new UnsupportedOperationException();
  }
}
