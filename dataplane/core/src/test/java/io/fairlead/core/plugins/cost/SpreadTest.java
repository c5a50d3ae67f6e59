package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

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
}
