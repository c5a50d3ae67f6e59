package io.fairlead.epp.datalayer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MetricsScraperTest {

  @ParameterizedTest
  @ValueSource(ints = {8, 16, 100, 1_000})
  void endpointsAreAskedAllOverTheInterval(int endpoints) {
    Map<Double, Long> at =
        IntStream.range(0, endpoints)
            .mapToObj(MetricsScraper::place)
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    assertThat(at.keySet())
        .containsExactlyInAnyOrder(0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875);
    assertThat(at.values()).allMatch(n -> n <= endpoints / 8 + 1);
  }
}
