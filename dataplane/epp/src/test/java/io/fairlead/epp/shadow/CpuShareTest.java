package io.fairlead.epp.shadow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class CpuShareTest {

  private static final long SECOND = 1_000_000_000;

  private final CpuShare share = new CpuShare();

  private double taken(int of) {
    int taken = 0;
    for (int i = 0; i < of; i++) {
      taken += share.next() ? 1 : 0;
    }
    return (double) taken / of;
  }

  @Test
  void allRequestsWhileTheProcessHasLittleToDo() {
    share.passed(SECOND, SECOND / 100, SECOND / 20);
    assertThat(taken(100)).isEqualTo(1);
  }

  @Test
  void allRequestsWhileItOnlyWakesUpForThemNowAndThen() {
    for (int i = 0; i < 20; i++) {
      share.passed(SECOND, SECOND / 120, SECOND / 5);
    }
    assertThat(taken(100)).isEqualTo(1);
  }

  @Test
  void allRequestsWhileTheShadowCostsLittle() {
    share.passed(SECOND, SECOND / 50, SECOND * 2);
    assertThat(taken(100)).isEqualTo(1);
  }

  @Test
  void aShareOfThemWhileItCostsTooMuchOfABusyProcess() {
    for (int i = 0; i < 20; i++) {
      long costs = (long) (0.15 * share.share() * SECOND); // of 2 s, so 7.5 % with all of them
      share.passed(SECOND, costs, SECOND * 2);
    }
    assertThat(taken(10_000)).isCloseTo(0.2, within(0.001));
    for (int i = 0; i < 20; i++) {
      share.passed(SECOND, 0, SECOND / 20);
    }
    assertThat(taken(100)).as("it is quiet again").isEqualTo(1);
  }

  @Test
  void neverNone() {
    for (int i = 0; i < 100; i++) {
      share.passed(SECOND, SECOND, SECOND);
    }
    assertThat(taken(10_000)).isGreaterThan(0.003);
  }
}
