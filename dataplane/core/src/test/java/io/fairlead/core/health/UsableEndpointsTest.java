package io.fairlead.core.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.HealthState;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsableEndpointsTest {

  private static final long SECOND = 1_000_000_000;

  private static EndpointHealth[] some(SplittableRandom random, int size, double out) {
    EndpointHealth[] all = new EndpointHealth[size];
    for (int i = 0; i < size; i++) {
      EndpointHealth one =
          new EndpointHealth(new EndpointSpec("e" + i, "1", "10.0.0.1", 1, Map.of()), 0);
      one.heard = true;
      one.state = random.nextDouble() < out ? HealthState.OUT : HealthState.IN_USE;
      one.unreachable = one.state == HealthState.OUT && random.nextBoolean();
      one.silent = one.state == HealthState.OUT && random.nextInt(4) == 0;
      for (int failure = random.nextInt(4); failure > 0; failure--) {
        one.estimate().failed(0, false);
      }
      all[i] = one;
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.4, 0.6, 0.9, 1})
  void atLeastHalfAreUsedTheLeastLikelyToFailFirst(double out) {
    SplittableRandom random = new SplittableRandom(1);
    for (int round = 0; round < 300; round++) {
      EndpointHealth[] all = some(random, random.nextInt(1, 60), out);
      UsableEndpoints usable = new UsableEndpoints();
      usable.changed();
      var _ = usable.whole(SECOND, all);
      List<Integer> well =
          IntStream.range(0, all.length)
              .filter(i -> all[i].state != HealthState.OUT)
              .boxed()
              .toList();
      int least = all.length - all.length / 2;
      List<Integer> expected =
          IntStream.range(0, all.length)
              .boxed()
              .sorted(
                  Comparator.<Integer, Boolean>comparing(i -> all[i].state == HealthState.OUT)
                      .thenComparing(i -> all[i].state == HealthState.OUT && all[i].unreachable)
                      .thenComparing(i -> all[i].silent)
                      .thenComparingDouble(
                          i -> all[i].state == HealthState.OUT ? all[i].failing() : 0)
                      .thenComparingInt(i -> i))
              .limit(Math.max(least, well.size()))
              .sorted()
              .toList();
      assertThat(IntStream.range(0, usable.count()).map(usable::place).boxed().toList())
          .isEqualTo(expected);
    }
  }
}
