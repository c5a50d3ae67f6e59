package io.fairlead.lab.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

final class EstimateTest {

  @Test
  void isTheMeanWithStudentsInterval() {
    Estimate estimate = Estimate.of(new double[] {10, 12, 14});

    assertThat(estimate.mean()).isEqualTo(12);
    assertThat(estimate.seeds()).isEqualTo(3);
    // The standard deviation is 2, t with two degrees of freedom 4.3027.
    assertThat(estimate.halfWidth()).isCloseTo(4.3027 * 2 / Math.sqrt(3), Offset.offset(1e-3));
  }

  @Test
  void leavesSeedsWithoutAValueOut() {
    assertThat(Estimate.of(new double[] {10, Double.NaN, 14}))
        .isEqualTo(Estimate.of(new double[] {10, 14}));
    assertThat(Estimate.of(new double[] {Double.NaN}))
        .isEqualTo(new Estimate(Double.NaN, Double.NaN, 0));
  }

  @Test
  void hasNoIntervalWithOneSeed() {
    assertThat(Estimate.of(new double[] {7})).isEqualTo(new Estimate(7, Double.NaN, 1));
  }
}
