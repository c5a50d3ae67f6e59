package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenPaceTest {

  private static final long STEP = 10_000_000;
  private static final long TOKEN = 30_000;

  private final TokenPace pace = new TokenPace();

  private void learn(SplittableRandom random, int prompts, double slower) {
    for (int i = 0; i < prompts; i++) {
      int tokens = random.nextInt(10, 2_000);
      double noise = random.nextDouble(0.9, 1.1);
      pace.learn(tokens, (long) (slower * noise * (STEP + TOKEN * tokens)));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void oneStallMakesTokensNoSlower(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    learn(random, 500, 1);
    assertThat(pace.nanos()).isCloseTo(TOKEN, within(TOKEN * 0.1));
    pace.learn(10_000, 60_000_000_000L);
    assertThat(pace.nanos()).as("after a minute's stall").isLessThan(TOKEN * 3.5);
    learn(random, 100, 1);
    assertThat(pace.nanos()).as("100 prompts later").isLessThan(TOKEN * 2.2);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void aServerThatGetsSlowerIsFound(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    learn(random, 500, 1);
    learn(random, 500, 20);
    assertThat(pace.nanos()).isCloseTo(20 * TOKEN, within(20 * TOKEN * 0.1));
  }
}
