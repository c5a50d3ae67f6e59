package io.fairlead.core.prefix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HashSaltTest {

  private static final int BLOCKS = 20;

  /** The published vector of 16 bytes 00, 01, … under the key 00, 01, …. */
  @Test
  void chainsBySipHash() {
    HashSalt salt = new HashSalt(1, 2, 3, 4, 0x0706050403020100L, 0x0F0E0D0C0B0A0908L);

    assertThat(salt.chain(0x0706050403020100L, 0x0F0E0D0C0B0A0908L)).isEqualTo(0x3F2ACC7F57C29BDBL);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void everyNumberCounts(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] prompt = new byte[BLOCKS * BlockHasher.BLOCK_BYTES];
    random.nextBytes(prompt);
    long[] words = random.longs(HashSalt.WORDS).toArray();
    long[] hashes = hash(prompt, words);

    assertThat(hashes).isEqualTo(hash(prompt, words)).isNotEqualTo(plain(prompt));
    for (int i = 0; i < HashSalt.WORDS; i++) {
      long[] other = words.clone();
      other[i]++;
      assertThat(Arrays.mismatch(hashes, hash(prompt, other))).as("word %d", i).isZero();
    }
  }

  @Test
  void aHashStandsForEverythingUpToItsBlock() {
    byte[] prompt = new byte[BLOCKS * BlockHasher.BLOCK_BYTES];
    long[] words = {1, 2, 3, 4, 5, 6};
    long[] before = hash(prompt, words);
    prompt[7 * BlockHasher.BLOCK_BYTES]++;

    assertThat(Arrays.mismatch(before, hash(prompt, words))).isEqualTo(7);
  }

  /** Else who has seen two neighbouring hashes could tell by trying what lies between them. */
  @Test
  void aStepFromOneHashToTheNextIsSecretToo() {
    byte[] prompt = new byte[2 * BlockHasher.BLOCK_BYTES];
    long[] salted = hash(prompt, new long[] {1, 2, 3, 4, 5, 6});
    long own = BlockHasher.hash(prompt, 64, 1, 2, 3, 4);

    assertThat(new HashSalt(1, 2, 3, 4, 5, 7).chain(salted[0], own)).isNotEqualTo(salted[1]);
    assertThat(new HashSalt(1, 2, 3, 4, 5, 6).chain(salted[0], own)).isEqualTo(salted[1]);
  }

  @Test
  void needsAllNumbers() {
    assertThatIllegalArgumentException().isThrownBy(() -> new HashSalt(1, 2, 3));
  }

  private static long[] hash(byte[] prompt, long[] words) {
    BlockHasher hasher = new BlockHasher(BLOCKS, new HashSalt(words));
    hasher.add(prompt, 0, prompt.length);
    return hasher.blocks();
  }

  private static long[] plain(byte[] prompt) {
    BlockHasher hasher = new BlockHasher(BLOCKS);
    hasher.add(prompt, 0, prompt.length);
    return hasher.blocks();
  }
}
