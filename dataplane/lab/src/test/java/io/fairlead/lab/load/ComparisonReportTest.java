package io.fairlead.lab.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.load.ComparisonReport.Side;
import io.fairlead.lab.load.LoadReport.Quantiles;
import io.fairlead.lab.load.LoadReport.Tokens;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ComparisonReportTest {

  private static final Side BASELINE =
      side("baseline", 0, 0, Map.of("a", 5L, "b", 5L), 2, Map.of("envoy", 310.4));
  private static final Side SUBJECT =
      side("extproc", 0, 0, Map.of("a", 4L, "b", 6L), 3, Map.of("envoy", 650.0, "picker", 412.0));

  @Test
  void isASuccessWhenAllAreAnsweredByTheChosen() {
    assertThat(report(BASELINE, SUBJECT, Map.of("a", 4L, "b", 6L, "idle", 0L)).problems())
        .isEmpty();
  }

  @Test
  void isNoneWhenAnotherThanTheChosenAnswered() {
    assertThat(report(BASELINE, SUBJECT, Map.of("a", 6L, "b", 4L)).problems())
        .containsExactly("extproc: chosen {a=6, b=4}, but answered {a=4, b=6}");
  }

  @Test
  void isNoneWhenARequestFailedOrWasRejectedOnEitherSide() {
    Side bad = side("baseline", 1, 2, Map.of("a", 7L), 2, Map.of());

    assertThat(report(bad, SUBJECT, Map.of("a", 4L, "b", 6L)).problems())
        .containsExactly("baseline: of 10 requests 1 failed {503=1}, 2 were rejected");
  }

  @Test
  void isNoneWhenNothingWasSent() {
    Side idle =
        new Side(
            "extproc",
            new LoadReport(
                0,
                0,
                0,
                0,
                Map.of(),
                Map.of(),
                Map.of(),
                times(0),
                times(0),
                times(0),
                Tokens.NONE),
            Map.of());

    assertThat(report(BASELINE, idle, Map.of()).problems()).hasSize(1);
  }

  @Test
  void isNoneWhenTheWarmUpFailed() {
    assertThat(
            new ComparisonReport(
                    200, 1, 1, BASELINE, SUBJECT, Map.of("a", 4L, "b", 6L), List.of("warm-up"))
                .problems())
        .containsExactly("warm-up");
  }

  @Test
  void standsBesideItsBaselineInATable() {
    assertThat(ComparisonTable.lines(report(BASELINE, SUBJECT, Map.of("a", 4L, "b", 6L))))
        .containsExactly(
            "                                 baseline        extproc",
            "requests                               10             10",
            "answered in full                       10             10",
            "rejected                                0              0",
            "failed                                  0              0",
            "first byte p50, ms                   2.00           3.00  x 1.50",
            "first byte p99, ms                   8.00          12.00  x 1.50",
            "whole answer p50, ms                 2.00           3.00  x 1.50",
            "whole answer p99, ms                 8.00          12.00  x 1.50",
            "CPU of envoy, us/request              310            650",
            "CPU of picker, us/request                            412",
            "answered by a                           5              4  chosen 4",
            "answered by b                           5              6  chosen 6");
  }

  @Test
  void readsPicksFromTheMetricsPage() {
    String page =
        """
        # TYPE fairlead_endpoint_sent_total counter
        fairlead_endpoint_sent_total{endpoint="stub-0"} 12
        fairlead_endpoint_sent_total{endpoint="stub-1"} 0
        # TYPE fairlead_endpoint_matched_blocks_total counter
        fairlead_endpoint_matched_blocks_total{endpoint="stub-0"} 99
        """;

    assertThat(PickCounts.of(page)).isEqualTo(Map.of("stub-0", 12L, "stub-1", 0L));
  }

  private static ComparisonReport report(Side baseline, Side subject, Map<String, Long> picks) {
    return new ComparisonReport(200, 1, 1, baseline, subject, picks, List.of());
  }

  private static Side side(
      String name,
      long failed,
      long rejected,
      Map<String, Long> endpoints,
      double millis,
      Map<String, Double> cpu) {
    Map<String, Long> failures = failed == 0 ? Map.of() : Map.of("503", failed);
    return new Side(
        name,
        new LoadReport(
            10,
            10 - failed - rejected,
            rejected,
            failed,
            failures,
            endpoints,
            Map.of(),
            times(millis),
            times(millis),
            times(millis),
            Tokens.NONE),
        cpu);
  }

  private static Quantiles times(double millis) {
    return new Quantiles(millis, millis * 2, millis * 4, millis);
  }
}
