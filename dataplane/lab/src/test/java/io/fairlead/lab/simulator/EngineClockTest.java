package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EngineClockTest {

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 8, 100})
  void knowsTheFirst(int engines) {
    SplittableRandom random = new SplittableRandom(engines);
    EngineClock clock = new EngineClock(engines);
    long[] times = new long[engines];
    Arrays.fill(times, Timeline.NEVER);

    for (int i = 0; i < 20_000; i++) {
      int changed = random.nextInt(engines);
      times[changed] = random.nextInt(5) == 0 ? Timeline.NEVER : random.nextInt(50);
      clock.set(changed, times[changed]);

      int first = 0;
      for (int engine = 1; engine < engines; engine++) {
        if (times[engine] < times[first]) {
          first = engine;
        }
      }
      assertThat(clock.first()).as("engines %d, change %d", engines, i).isEqualTo(first);
      assertThat(clock.earliest()).isEqualTo(times[first]);
    }
  }
}
