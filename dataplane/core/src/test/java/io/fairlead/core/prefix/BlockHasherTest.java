package io.fairlead.core.prefix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockHasherTest {

  private final BlockHasher hasher = new BlockHasher(1000);

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void cutsMakeNoDifference(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 300; round++) {
      byte[] prompt = bytes(random, random.nextInt(2000));
      long[] whole = hash(prompt);
      assertThat(whole).hasSize(prompt.length / BlockHasher.BLOCK_BYTES);
      hasher.reset();
      for (int at = 0; at < prompt.length; ) {
        int length = Math.min(prompt.length - at, random.nextInt(200));
        hasher.add(prompt, at, length);
        at += length;
      }
      assertThat(hasher.blocks()).isEqualTo(whole);
    }
  }

  @Test
  void aHashStandsForEverythingUpToItsBlock() {
    byte[] prompt = bytes(new SplittableRandom(5), 640);
    long[] before = hash(prompt);
    prompt[5 * 64]++;
    long[] after = hash(prompt);
    for (int i = 0; i < 10; i++) {
      assertThat(before[i] == after[i]).as("block %s", i).isEqualTo(i < 5);
    }
  }

  /** Near half of the bits change with any one bit of a block, and no two of these hashes agree. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void everyBitCounts(long seed) {
    byte[] block = bytes(new SplittableRandom(seed), BlockHasher.BLOCK_BYTES);
    if (seed == 3) {
      Arrays.fill(block, (byte) 0);
    }
    long before = hash(block)[0];
    Set<Long> seen = new HashSet<>(Set.of(before));
    long changed = 0;
    for (int bit = 0; bit < block.length * 8; bit++) {
      block[bit / 8] ^= (byte) (1 << bit % 8);
      long after = hash(block)[0];
      assertThat(seen.add(after)).as("bit %s", bit).isTrue();
      assertThat(Long.bitCount(before ^ after)).as("bit %s", bit).isBetween(8, 56);
      changed += Long.bitCount(before ^ after);
      block[bit / 8] ^= (byte) (1 << bit % 8);
    }
    assertThat((double) changed / (block.length * 8)).isBetween(30.0, 34.0);
  }

  @Test
  void shortTextsThatDifferLittleDoNotCollide() {
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < 200_000; i++) {
      byte[] block = String.format("%064d", i).getBytes(StandardCharsets.US_ASCII);
      assertThat(seen.add(hash(block)[0])).isTrue();
    }
  }

  @Test
  void wordsInAnotherOrderHashDifferently() {
    SplittableRandom random = new SplittableRandom(7);
    byte[] block = bytes(random, BlockHasher.BLOCK_BYTES);
    Set<Long> seen = new HashSet<>(Set.of(hash(block)[0]));
    for (int from = 0; from < 8; from++) {
      for (int to = from + 1; to < 8; to++) {
        byte[] swapped = block.clone();
        System.arraycopy(block, from * 8, swapped, to * 8, 8);
        System.arraycopy(block, to * 8, swapped, from * 8, 8);
        assertThat(seen.add(hash(swapped)[0])).as("%s and %s", from, to).isTrue();
      }
    }
  }

  @Test
  void equalBlocksInOtherPlacesHashDifferently() {
    long[] hashes = hash(new byte[64_000]);
    assertThat(LongStream.of(hashes).distinct().count()).isEqualTo(1000);
  }

  @Test
  void ignoresWhatIsBeyondTheLongestPrefix() {
    byte[] prompt = bytes(new SplittableRandom(6), 1000);
    BlockHasher small = new BlockHasher(3);
    small.add(prompt, 0, 100);
    small.add(prompt, 100, 900);
    assertThat(small.blocks()).isEqualTo(Arrays.copyOf(hash(prompt), 3));
    BlockHasher none = new BlockHasher(0);
    none.add(prompt, 0, 1000);
    assertThat(none.blocks()).isEmpty();
  }

  @Test
  void saltsShareNoBlock() {
    byte[] prompt = bytes(new SplittableRandom(8), 640);
    byte[] salts = bytes(new SplittableRandom(9), 201);
    long[] plain = hash(prompt);
    hasher.reset(salts, 0, 200);
    hasher.add(prompt, 0, prompt.length);
    long[] one = hasher.blocks();
    hasher.reset(salts, 0, 201);
    hasher.add(prompt, 0, prompt.length);
    long[] other = hasher.blocks();

    assertThat(one).hasSameSizeAs(plain).doesNotContain(plain);
    assertThat(other).hasSameSizeAs(plain).doesNotContain(plain).doesNotContain(one);
    assertThat(hash(prompt)).as("a salt is of one prompt").isEqualTo(plain);
  }

  @Test
  void aDigestFillsThePlaceOfText() {
    byte[] text = bytes(new SplittableRandom(10), 640);
    byte[] image = bytes(new SplittableRandom(11), 5000);
    byte[] other = image.clone();
    other[2500]++;
    for (int fill : new int[] {0, 1, 63, 64, 65, 640, 1000}) {
      long[] one = digest(text, image, fill);
      assertThat(one).as("fill %s", fill).hasSize((640 + fill + 640) / 64);
      assertThat(digest(text, image, fill)).isEqualTo(one);
      long[] two = digest(text, other, fill);
      for (int i = 0; i < one.length; i++) {
        assertThat(one[i] == two[i])
            .as("fill %s, block %s", fill, i)
            .isEqualTo(i < 10 || fill == 0);
      }
    }
    assertThat(digest(text, image, Long.MAX_VALUE / 2)).as("no further than asked").hasSize(1000);
  }

  private long[] digest(byte[] text, byte[] other, long fill) {
    hasher.reset();
    hasher.add(text, 0, text.length);
    hasher.addDigest(other, 0, other.length, fill);
    hasher.add(text, 0, text.length);
    return hasher.blocks();
  }

  @Test
  void refusesWhatIsOutOfRange() {
    assertThatIllegalArgumentException().isThrownBy(() -> new BlockHasher(-1));
    assertThatThrownBy(() -> hasher.add(new byte[3], 2, 2))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  private long[] hash(byte[] prompt) {
    hasher.reset();
    hasher.add(prompt, 0, prompt.length);
    return hasher.blocks();
  }

  private static byte[] bytes(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
