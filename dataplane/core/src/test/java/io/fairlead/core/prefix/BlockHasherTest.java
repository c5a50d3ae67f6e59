package io.fairlead.core.prefix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
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
