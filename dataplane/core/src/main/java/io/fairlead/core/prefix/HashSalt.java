package io.fairlead.core.prefix;

/**
 * Secret numbers to hash prompts with, so that whoever sees the hashes can't find out by trying
 * which text they stand for. A block is hashed under secret keys, which spreads it, and that is
 * chained by SipHash-2-4, which hides it: hashes of neighbouring blocks tell nothing either.
 *
 * <p>Who shares the numbers gets the same hashes. Immutable.
 */
public final class HashSalt {

  /** Numbers needed. */
  public static final int WORDS = 6;

  /** As SipHash appends it to what it hashes. */
  private static final long LENGTH = (2L * Long.BYTES) << 56;

  private final long first;
  private final long second;
  private final long third;
  private final long fourth;
  private final long sip0;
  private final long sip1;

  /**
   * Of secret numbers.
   *
   * @param words {@value #WORDS} of them, all bits random
   */
  public HashSalt(long... words) {
    if (words.length != WORDS) {
      throw new IllegalArgumentException(
          "words has " + words.length + " numbers; " + WORDS + " are needed");
    }
    first = words[0];
    second = words[1];
    third = words[2];
    fourth = words[3];
    sip0 = words[4];
    sip1 = words[5];
  }

  /** The same for the same numbers, and tells nothing of them. */
  public long fingerprint() {
    return chain(WORDS, LENGTH);
  }

  /** Of one block of {@link BlockHasher#BLOCK_BYTES}. */
  long hash(byte[] bytes, int at) {
    return BlockHasher.hash(bytes, at, first, second, third, fourth);
  }

  /** SipHash-2-4 of both numbers. */
  long chain(long before, long own) {
    long v0 = sip0 ^ 0x736F6D6570736575L;
    long v1 = sip1 ^ 0x646F72616E646F6DL;
    long v2 = sip0 ^ 0x6C7967656E657261L;
    long v3 = sip1 ^ 0x7465646279746573L;
    for (int step = 0; step < 5; step++) {
      // Both numbers and their length are taken in, two rounds each; four more rounds end it.
      long word = step == 0 ? before : step == 1 ? own : step == 2 ? LENGTH : 0;
      v2 ^= step == 3 ? 0xFF : 0;
      v3 ^= word;
      v0 += v1;
      v1 = Long.rotateLeft(v1, 13) ^ v0;
      v0 = Long.rotateLeft(v0, 32);
      v2 += v3;
      v3 = Long.rotateLeft(v3, 16) ^ v2;
      v0 += v3;
      v3 = Long.rotateLeft(v3, 21) ^ v0;
      v2 += v1;
      v1 = Long.rotateLeft(v1, 17) ^ v2;
      v2 = Long.rotateLeft(v2, 32);

      v0 += v1;
      v1 = Long.rotateLeft(v1, 13) ^ v0;
      v0 = Long.rotateLeft(v0, 32);
      v2 += v3;
      v3 = Long.rotateLeft(v3, 16) ^ v2;
      v0 += v3;
      v3 = Long.rotateLeft(v3, 21) ^ v0;
      v2 += v1;
      v1 = Long.rotateLeft(v1, 17) ^ v2;
      v2 = Long.rotateLeft(v2, 32);
      v0 ^= word;
    }
    return v0 ^ v1 ^ v2 ^ v3;
  }
}
