package io.fairlead.lab.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class StartReportTest {

  private static StartReport.Start start(double ready, double micros) {
    return new StartReport.Start(
        ready,
        new StartReport.Span(2_000, 0, 2, 12, micros, 180),
        new StartReport.Span(2_000, 0, 1, 6, 150, 200));
  }

  @Test
  void tellsMediansOverTheStarts() {
    var report = new StartReport(List.of(start(900, 300), start(5_000, 900), start(1_000, 450)));
    assertThat(report.lines())
        .contains("| CPU per request, µs | 450 | 150 | 3.00 |")
        .contains("| first byte p99, ms | 12.00 | 6.00 | 2.00 |")
        .contains("| failed | 0 | 0 | – |")
        .anySatisfy(line -> assertThat(line).contains("ready after 1000 ms (medians of 3 starts)"));
  }

  @Test
  void refusesWhatCantBeMeasured() {
    String[] args = {
      "--command",
      "true",
      "--ready",
      "http://h/readyz",
      "--target",
      "http://h",
      "--other",
      "http://o",
      "--model",
      "m",
      "--rate",
      "0",
      "--rounds",
      "1",
      "--seed",
      "1",
      "--log",
      "l",
      "--report",
      "r"
    };
    assertThatThrownBy(() -> StartOptions.parse(args)).hasMessageContaining("--rate above 0");
    args[11] = "10";
    assertThat(StartOptions.parse(args).ratePerSecond()).isEqualTo(10);
  }
}
