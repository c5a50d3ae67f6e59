package io.fairlead.core.prefix;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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

  private static final Hasher64 SALTS = Hashing.wyhashFinal4();

  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** Random bits, half of them set. */
  private static final long KEY_0 = 0xA0761D6478BD642FL;

  private static final long KEY_1 = 0xE7037ED1A0B428DBL;
  private static final long KEY_2 = 0x8EBC6AF09C88C6E3L;
  private static final long KEY_3 = 0x589965CC75374CC3L;

  /** What the first block is chained to: any constant. */
  private static final long ROOT = 0x9E3779B97F4A7C15L;

  /** Places for hashes with which a prompt begins, and the most that are kept after one. */
  private static final int FIRST_HASHES = 64;

  private static final int KEPT_HASHES = 4_096;

  private final int maxBlocks;
  private final @Nullable HashSalt secret;
  private final byte[] carry = new byte[BLOCK_BYTES];
  private final byte[] filler = new byte[BLOCK_BYTES];
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
    this(maxBlocks, null);
  }

  /**
   * A hasher with no prompt yet.
   *
   * @param maxBlocks longest prefix that is hashed; the rest of a prompt is ignored
   * @param secret makes hashes that tell nothing of the text, at some cost; null for plain ones
   */
  public BlockHasher(int maxBlocks, @Nullable HashSalt secret) {
    if (maxBlocks < 0) {
      throw new IllegalArgumentException("maxBlocks is " + maxBlocks + "; must be 0 or more");
    }
    this.maxBlocks = maxBlocks;
    this.secret = secret;
    this.hashes = new long[Math.min(maxBlocks, FIRST_HASHES)];
  }

  /** Starts a prompt. What a long one took before is given back. */
  public void reset() {
    if (hashes.length > KEPT_HASHES) {
      hashes = new long[FIRST_HASHES];
    }
    Arrays.fill(carry, (byte) 0);
    Arrays.fill(filler, (byte) 0);
    carried = 0;
    count = 0;
    last = ROOT;
  }

  /** Starts a prompt that shares no block with one of another salt, or of none. */
  public void reset(byte[] salt, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, salt.length);
    reset();
    long own = SALTS.hashBytesToLong(salt, offset, length);
    last = secret == null ? chain(last, own) : secret.chain(last, own);
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
      blocks(carry, 0, 1);
    }
    at += BLOCK_BYTES * blocks(bytes, at, (end - at) / BLOCK_BYTES);
    if (count < maxBlocks) {
      carried = end - at;
      System.arraycopy(bytes, at, carry, 0, carried);
    }
  }

  /**
   * Adds a digest of bytes that are no text, in the place of text.
   *
   * @param fill how many bytes of text they stand for: what is added behind them falls into the
   *     same blocks as it would behind so much text
   */
  public void addDigest(byte[] bytes, int offset, int length, long fill) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    long digest = SALTS.hashBytesToLong(bytes, offset, length);
    for (int i = 0; i < BLOCK_BYTES; i += Long.BYTES) {
      WORDS.set(filler, i, digest);
    }
    for (long left = fill; left > 0 && count < maxBlocks; left -= BLOCK_BYTES) {
      add(filler, 0, (int) Math.min(left, BLOCK_BYTES));
    }
  }

  /** Hashes of the whole blocks so far, in a new array. */
  public long[] blocks() {
    return Arrays.copyOf(hashes, count);
  }

  /** Hashes so many blocks, or as many as may be; returns how many. */
  private int blocks(byte[] bytes, int from, int wanted) {
    int more = Math.min(wanted, maxBlocks - count);
    if (more > hashes.length - count) {
      hashes = Arrays.copyOf(hashes, (int) Math.min(maxBlocks, Math.max(count + more, count * 2L)));
    }
    long[] into = hashes;
    int first = count;
    long before = last;
    HashSalt salt = secret;
    if (salt == null) {
      for (int i = 0; i < more; i++) {
        before = chain(before, hash(bytes, from + i * BLOCK_BYTES, KEY_0, KEY_1, KEY_2, KEY_3));
        into[first + i] = before;
      }
    } else {
      for (int i = 0; i < more; i++) {
        before = salt.chain(before, salt.hash(bytes, from + i * BLOCK_BYTES));
        into[first + i] = before;
      }
    }
    last = before;
    count += more;
    return more;
  }

  /**
   * Hash of one block. Its four pairs of words don't wait for one another, which makes it several
   * times as fast as a general hash of so few bytes.
   */
  static long hash(byte[] bytes, int at, long key0, long key1, long key2, long key3) {
    long first = fold(word(bytes, at) ^ key0, word(bytes, at + 8) ^ key1);
    long second = fold(word(bytes, at + 16) ^ key2, word(bytes, at + 24) ^ key3);
    long third = fold(word(bytes, at + 32) ^ key1, word(bytes, at + 40) ^ key2);
    long fourth = fold(word(bytes, at + 48) ^ key3, word(bytes, at + 56) ^ key0);
    return (first + Long.rotateLeft(second, 16)) ^ (Long.rotateLeft(third, 32) + fourth);
  }

  private static long chain(long before, long own) {
    return fold(before ^ KEY_0, own ^ KEY_1);
  }

  /** Both halves of the product of two words, mixed: unlike a sum, it depends on their order. */
  private static long fold(long a, long b) {
    return Math.unsignedMultiplyHigh(a, b) ^ (a * b);
  }

  private static long word(byte[] bytes, int at) {
    return (long) WORDS.get(bytes, at);
  }
}
