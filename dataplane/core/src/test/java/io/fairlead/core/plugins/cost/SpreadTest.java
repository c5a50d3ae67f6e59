package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpreadTest {

  private final Spread spread = new Spread();

  @Test
  void isTheVarianceBeyondChance() {
    assertThat(spread.variance()).isZero();
    spread.add(1, 1, 0.5);
    spread.add(3, 1, 0.1);
    assertThat(spread.variance()).isCloseTo(1 - 0.3, within(1e-12));
  }

  @Test
  void whatChanceExplainsIsNone() {
    spread.add(1, 1, 2);
    spread.add(3, 1, 2);
    assertThat(spread.variance()).isZero();
  }

  @Test
  void whoIsHardlyKnownHardlyCounts() {
    spread.add(1, 1, 0);
    spread.add(1, 1, 0);
    spread.add(9, 0.01, 0);
    assertThat(spread.variance()).isLessThan(0.4);
    spread.clear();
    assertThat(spread.variance()).isZero();
  }

  /** What fades by half again and again comes to the least numbers that there are. */
  @ParameterizedTest
  @ValueSource(doubles = {1e-10, 1e-300, 1e-310, Double.MIN_VALUE})
  void whatIsHardlyKnownSaysNothing(double seen) {
    Spread spread = new Spread();
    spread.add(-0.5, 1, 0);
    spread.add(0.5, 1, 0);
    double variance = spread.variance();
    spread.add(2, seen, 0.1 / seen);
    assertThat(spread.variance()).isEqualTo(variance);
  }
}
