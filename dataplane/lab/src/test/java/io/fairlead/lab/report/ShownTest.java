package io.fairlead.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.report.Versus.Verdict;
import io.fairlead.lab.statistics.Estimate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ShownTest {

  @ParameterizedTest
  @CsvSource({
    "TTFT_P99, 1234.56, 1235",
    "TTFT_P99, 99.94, 99.9",
    "TTFT_P99, 9.994, 9.99",
    "TTFT_P99, 0.12345, 0.123",
    "TTFT_P99, NaN, –",
    "TTFT_P99, Infinity, ∞",
    "HIT_RATE, 0.8349, 83.5 %",
    "HIT_RATE, 0, 0.0 %",
    "HIT_RATE, NaN, –",
    "PREEMPTIONS, 3, 3",
    "JAIN, -0.0, 0",
  })
  void hasAboutThreeDigits(Measure measure, double value, String text) {
    assertThat(Shown.value(measure, value)).isEqualTo(text);
  }

  @Test
  void intervalHasTheDigitsOfItsMean() {
    assertThat(Shown.estimate(Measure.TTFT_P50, new Estimate(123.4, 5.67, 5), 5))
        .isEqualTo("123 ± 6");
    assertThat(Shown.estimate(Measure.PREEMPTIONS, new Estimate(3, 0.4, 5), 5))
        .isEqualTo("3.00 ± 0.40");
    assertThat(Shown.estimate(Measure.HIT_RATE, new Estimate(0.5, 0.0123, 5), 5))
        .isEqualTo("50.0 % ± 1.2");
    assertThat(Shown.estimate(Measure.TTFT_P50, new Estimate(50, Double.NaN, 1), 3))
        .isEqualTo("50 (1 of 3 seeds)");
    assertThat(Shown.estimate(Measure.TTFT_P50, new Estimate(Double.NaN, Double.NaN, 0), 3))
        .isEqualTo("–");
  }

  @Test
  void ratioOfNothingIsADash() {
    assertThat(Shown.ratio(null)).isEqualTo("–");
    assertThat(Shown.ratio(new Versus(Double.NaN, Double.NaN, 2, Verdict.WORSE))).isEqualTo("–");
    assertThat(Shown.ratio(new Versus(0.917, 0.0123, 5, Verdict.BETTER))).isEqualTo("×0.92 ± 0.01");
    assertThat(Shown.ratio(new Versus(12.34, Double.NaN, 1, Verdict.WORSE))).isEqualTo("×12.3");
  }
}
