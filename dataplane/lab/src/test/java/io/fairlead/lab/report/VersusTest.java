package io.fairlead.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.report.Measure.Better;
import io.fairlead.lab.report.Versus.Verdict;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

final class VersusTest {

  private static final double NAN = Double.NaN;

  /**
   * Means 90 and 120, so the ratio is 0.75. The residuals value − 0.75 · other are 5, −10 and 5,
   * with a standard deviation of √75; t with two degrees of freedom is 4.3027. Hence ± 4.3027 · √75
   * / √3 / 120 = 4.3027 · 5 / 120.
   */
  @Test
  void ratioAndIntervalOfAWorkedExample() {
    Versus versus =
        Versus.of(Better.LESS, new double[] {80, 80, 110}, new double[] {100, 120, 140});

    assertThat(versus.ratio()).isEqualTo(0.75);
    assertThat(versus.halfWidth()).isCloseTo(4.3027 * 5 / 120, Offset.offset(1e-4));
    assertThat(versus.seeds()).isEqualTo(3);
  }

  @Test
  void seedsThatDifferMuchDontHideADifferenceWithinEach() {
    double[] others = {100, 1_000, 10_000};
    double[] values = {90, 900, 9_000};

    Versus versus = Versus.of(Better.LESS, values, others);

    assertThat(versus.ratio()).isCloseTo(0.9, Offset.offset(1e-12));
    assertThat(versus.halfWidth()).isCloseTo(0, Offset.offset(1e-12));
  }

  @Test
  void lessThanThreePerCentIsATie() {
    assertThat(verdict(Better.LESS, 102.9, 100)).isEqualTo(Verdict.TIE);
    assertThat(verdict(Better.LESS, 97.1, 100)).isEqualTo(Verdict.TIE);
    assertThat(verdict(Better.LESS, 103.1, 100)).isEqualTo(Verdict.WORSE);
    assertThat(verdict(Better.LESS, 96.9, 100)).isEqualTo(Verdict.BETTER);
    assertThat(verdict(Better.MORE, 103.1, 100)).isEqualTo(Verdict.BETTER);
    assertThat(verdict(Better.MORE, 96.9, 100)).isEqualTo(Verdict.WORSE);
  }

  @Test
  void whatTheIntervalDoesNotSettleIsUnclear() {
    assertThat(
            Versus.of(Better.LESS, new double[] {50, 160, 90}, new double[] {100, 120, 140})
                .verdict())
        .isEqualTo(Verdict.UNCLEAR);
  }

  @Test
  void aRestlessReferenceDoesNotBlurARatioThatIsSteady() {
    Versus versus =
        Versus.of(Better.LESS, new double[] {18, 55, 140}, new double[] {100, 300, 800});

    assertThat(versus.ratio() + versus.halfWidth()).isLessThan(0.25);
    assertThat(versus.verdict()).isEqualTo(Verdict.BETTER);
  }

  @Test
  void nothingOverNothingIsATieAndOverNothingNoRatio() {
    double[] none = {0, 0};

    assertThat(Versus.of(Better.LESS, none, none)).isEqualTo(new Versus(1, 0, 2, Verdict.TIE));
    assertThat(Versus.of(Better.LESS, new double[] {3, 3}, none))
        .isEqualTo(new Versus(NAN, NAN, 2, Verdict.WORSE));
    assertThat(Versus.of(Better.LESS, new double[] {0, 3}, none).verdict())
        .isEqualTo(Verdict.UNCLEAR);
    assertThat(Versus.of(Better.LESS, none, new double[] {3, 3}))
        .isEqualTo(new Versus(0, 0, 2, Verdict.BETTER));
  }

  @Test
  void onlyPairsCount() {
    assertThat(Versus.of(Better.LESS, new double[] {NAN, 50, 1}, new double[] {1, 100, NAN}))
        .isEqualTo(new Versus(0.5, NAN, 1, Verdict.BETTER));
    assertThat(Versus.of(Better.LESS, new double[] {NAN}, new double[] {1}))
        .isEqualTo(new Versus(NAN, NAN, 0, Verdict.ABSENT));
  }

  private static Verdict verdict(Better better, double value, double other) {
    return Versus.of(better, new double[] {value}, new double[] {other}).verdict();
  }
}
