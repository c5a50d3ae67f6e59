package io.fairlead.core.prefix;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.util.Arrays;
import java.util.Objects;

/**
 * Chained hashes over the prompt's bytes, one per whole block: {@code h[i]} stands for everything
 * up to and including block {@code i}. Knows no model: the core salts hashes by target model at
 * look-up. Not thread-safe; one per connection loop, reused.
 *
 * <p>A block's bytes are hashed where they lie; only a block that is cut by two calls is put
 * together in a buffer of one block, which {@link #reset()} clears.
 */
public final class BlockHasher {

  /** Bytes of prompt per block: 16 tokens of about 4 bytes, the usual KV block. */
  public static final int BLOCK_BYTES = 64;

  private static final Hasher64 HASHER = Hashing.wyhashFinal4();

  /** What the first block is chained to: any constant. */
  private static final long ROOT = 0x9E3779B97F4A7C15L;

  private final int maxBlocks;
  private final byte[] carry = new byte[BLOCK_BYTES];
  private int carried;
  private long[] hashes;
  private int count;
  private long last = ROOT;

  /**
   * A hasher with no prompt yet.
   *
   * @param maxBlocks longest prefix that is hashed; the rest of a prompt is ignored
   */
  public BlockHasher(int maxBlocks) {
    if (maxBlocks < 0) {
      throw new IllegalArgumentException("maxBlocks is " + maxBlocks + "; must be 0 or more");
    }
    this.maxBlocks = maxBlocks;
    this.hashes = new long[Math.min(maxBlocks, 64)];
  }

  /** Starts a prompt. */
  public void reset() {
    Arrays.fill(carry, (byte) 0);
    carried = 0;
    count = 0;
    last = ROOT;
  }

  /** Starts a prompt that shares no block with one of another salt, or of none. */
  public void reset(byte[] salt, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, salt.length);
    reset();
    last = chain(last, HASHER.hashBytesToLong(salt, offset, length));
  }

  /** Adds prompt bytes; how they are cut into calls makes no difference. */
  public void add(byte[] bytes, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    int at = offset;
    int end = offset + length;
    if (carried > 0) {
      int taken = Math.min(BLOCK_BYTES - carried, length);
      System.arraycopy(bytes, at, carry, carried, taken);
      carried += taken;
      at += taken;
      if (carried < BLOCK_BYTES) {
        return;
      }
      carried = 0;
      block(carry, 0);
    }
    while (end - at >= BLOCK_BYTES && count < maxBlocks) {
      block(bytes, at);
      at += BLOCK_BYTES;
    }
    if (count < maxBlocks) {
      carried = end - at;
      System.arraycopy(bytes, at, carry, 0, carried);
    }
  }

  /** Hashes of the whole blocks so far, in a new array. */
  public long[] blocks() {
    return Arrays.copyOf(hashes, count);
  }

  private void block(byte[] bytes, int at) {
    if (count == hashes.length) {
      hashes = Arrays.copyOf(hashes, (int) Math.min(maxBlocks, count * 2L));
    }
    long own = HASHER.hashBytesToLong(bytes, at, BLOCK_BYTES);
    last = chain(last, own);
    hashes[count++] = last;
  }

  /** A multiply-and-fold of the two words: depends on their order, unlike a plain xor or sum. */
  private static long chain(long before, long own) {
    long a = before ^ 0xA0761D6478BD642FL;
    long b = own ^ 0xE7037ED1A0B428DBL;
    return Math.unsignedMultiplyHigh(a, b) ^ (a * b);
  }
}
