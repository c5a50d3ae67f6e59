package io.fairlead.lab.hop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class PairedRatiosTest {

  @Test
  void aMachineThatIsSlowForSomePairsMovesNothing() {
    PairedRatios ratios = new PairedRatios();
    for (int round = 0; round < 21; round++) {
      double slower = round % 3 == 0 ? 7 : 1;
      ratios.add(slower * 103, slower * 100);
    }
    assertThat(ratios.median()).isEqualTo(1.03);
    assertThat(ratios.low()).isEqualTo(1.03);
    assertThat(ratios.high()).isEqualTo(1.03);
  }

  @Test
  void leavesOutAsManyAtEachEndAsTablesOfTheSignTestSay() {
    assertThat(interval(6)).containsExactly(1, 6);
    assertThat(interval(9)).containsExactly(2, 8);
    assertThat(interval(20)).containsExactly(6, 15);
    assertThat(interval(50)).containsExactly(18, 33);
    assertThat(interval(100)).containsExactly(40, 61);
  }

  private static double[] interval(int count) {
    PairedRatios ratios = new PairedRatios();
    for (int rank = count; rank > 0; rank--) {
      ratios.add(rank, 1);
    }
    return new double[] {ratios.low(), ratios.high()};
  }

  @Test
  void theIntervalHoldsTheTrueRatioAboutAsOftenAsItSays() {
    SplittableRandom random = new SplittableRandom(1);
    int held = 0;
    for (int run = 0; run < 2_000; run++) {
      PairedRatios ratios = new PairedRatios();
      for (int round = 0; round < 30; round++) {
        ratios.add(1.05 * (1 + random.nextDouble()), 1 + random.nextDouble());
      }
      held += ratios.low() <= 1.05 && 1.05 <= ratios.high() ? 1 : 0;
    }
    assertThat(held).isBetween(1_880, 1_980);
  }

  @Test
  void tooFewPairsHaveNoIntervalAndNothingHasNoRatio() {
    PairedRatios ratios = new PairedRatios();
    for (int round = 0; round < 5; round++) {
      ratios.add(2, 1);
    }
    assertThatIllegalStateException().isThrownBy(ratios::low);
    assertThatIllegalArgumentException().isThrownBy(() -> ratios.add(1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> ratios.add(Double.NaN, 1));
  }
}
