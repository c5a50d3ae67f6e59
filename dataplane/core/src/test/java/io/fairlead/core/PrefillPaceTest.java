package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.account.PrefillLine;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PrefillPaceTest {

  private final PrefillPace pace = new PrefillPace();

  private void learn(SplittableRandom random, int prompts, double slower) {
    for (int i = 0; i < prompts; i++) {
      int tokens = random.nextInt(10, 2_000);
      double noise = random.nextDouble(0.9, 1.1);
      pace.learn(tokens, 0, (long) (noise * PrefillLine.expected(slower, tokens)));
    }
  }

  /** A CPU, say, or a model that is a hundred times as large as the guess is made for. */
  @ParameterizedTest
  @CsvSource({"0.5, 1", "10, 1", "45, 1", "60, 2", "90, 3"})
  void serversThatAreMuchSlowerThanTheGuessAreLearned(double slower, long seed) {
    learn(new SplittableRandom(seed), 400, slower);
    assertThat(pace.factor()).isCloseTo(slower, within(slower * 0.1));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void stallsNowAndThenTellNoPace(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 50; i++) {
      learn(random, 20, 1);
      for (int stall = 0; stall < 19; stall++) {
        pace.learn(1_000, 0, 60_000_000_000L);
      }
    }
    assertThat(pace.factor()).isCloseTo(1, within(0.1));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void stallsInARowCountAsNoMoreThanIsAbsurd(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    learn(random, 400, 1);
    for (int stall = 0; stall < 22; stall++) {
      pace.learn(100, 0, 600_000_000_000L);
    }
    assertThat(pace.factor()).isLessThan(2);
    learn(random, 200, 1);
    assertThat(pace.factor()).isCloseTo(1, within(0.1));
  }
}
