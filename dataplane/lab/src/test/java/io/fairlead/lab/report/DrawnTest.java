package io.fairlead.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class DrawnTest {

  private static final double NAN = Double.NaN;

  @Test
  void pathsAreShort() {
    assertThat(Drawn.path(new double[] {0, 1, 2.04, 2.04}, new double[] {5, 4.5, 4.5, 4.5}))
        .isEqualTo("M0 5l1-.5l1 0");
  }

  @Test
  void aGapLiftsThePen() {
    assertThat(Drawn.path(new double[] {0, 1, 2, 3}, new double[] {1, NAN, 1, 2}))
        .isEqualTo("M0 1M2 1l1 1");
  }

  @Test
  void thinningKeepsPeaksAndLows() {
    List<Double> values = List.of(1.0, 9.0, 2.0, NAN, NAN, NAN, 3.0);

    Thinned peaks = Thinned.peaks(0.5, values, 3);
    Thinned lows = Thinned.lows(0.5, values, 3);

    assertThat(peaks.xs()).containsExactly(0.5, 2, 3);
    assertThat(peaks.ys()).containsExactly(9, NAN, 3);
    assertThat(lows.ys()).containsExactly(1, NAN, 3);
  }

  @Test
  void fewValuesStayAsTheyAre() {
    assertThat(Thinned.peaks(2, List.of(4.0, 5.0), 300).ys()).containsExactly(4, 5);
    assertThat(Thinned.peaks(2, List.of(), 300).ys()).isEmpty();
  }
}
