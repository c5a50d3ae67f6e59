package io.fairlead.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class EndpointTableTest {

  @Test
  void alignsColumnsAndShowsTheUnknownAsADash() {
    List<String> lines =
        EndpointTable.lines(
            List.of(
                new EndpointRow("stub-a", 3, 1, 0.25, 120, 0.5, 12.34, 99.96),
                new EndpointRow(
                    "a-longer-name", 0, 0, Double.NaN, 0, Double.NaN, Double.NaN, Double.NaN)));

    assertThat(lines)
        .containsExactly(
            "ENDPOINT       IN FLIGHT  QUEUE  KV USE  SENT  PREFIX HIT  TTFT P50  TTFT P99",
            "stub-a                 3      1    25 %   120        50 %   12.3 ms  100.0 ms",
            "a-longer-name          0      0       -     0           -         -         -");
  }
}
