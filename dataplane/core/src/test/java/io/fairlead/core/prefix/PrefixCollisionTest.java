package io.fairlead.core.prefix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Prompts whose blocks have the same hash behind different ones: by 2^32 tries anybody can find
 * such. The index may know less then, but goes on.
 */
class PrefixCollisionTest {

  private static final int ENDPOINTS = 5;
  private static final int CAPACITY = 30;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void goesOnWhenHashesAreTheSame(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    PrefixIndex index = new PrefixIndex(CAPACITY, 20_000);
    for (int e = 0; e < ENDPOINTS; e++) {
      index.forget(e);
    }
    long found = 0;
    for (int i = 0; i < 100_000; i++) {
      long[] blocks = random.longs(random.nextInt(12), 0, 3).toArray();
      int endpoint = random.nextInt(ENDPOINTS);
      index.lookUp(1, blocks, blocks.length);
      int held = index.held(endpoint);
      found += held;
      assertThat(held).isBetween(0, blocks.length);
      switch (random.nextInt(20)) {
        case 0 -> index.forget(endpoint);
        case 1, 2, 3, 4, 5, 6 -> index.withdraw(endpoint, 1, blocks, blocks.length, held);
        default -> index.learn(endpoint, 1, blocks, blocks.length);
      }
      assertThat(index.size(endpoint)).isBetween(0, CAPACITY);
    }
    assertThat(found).isPositive();
  }
}
