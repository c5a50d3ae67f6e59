package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class PrefillSumsTest {

  private final PrefillSums sums = new PrefillSums(1);

  private void add(int times, double millis, double expected) {
    for (int i = 0; i < times; i++) {
      sums.add(millis, expected);
    }
  }

  @Test
  void whatHasFadedCountsNoMore() {
    add(100, 800, 100);
    assertThat(sums.slowness()).isCloseTo(8, within(0.1));
    sums.fade(1e-6);
    add(1, 100, 100);
    assertThat(sums.slowness()).isCloseTo(1, within(0.1));
  }

  @Test
  void whatHasFadedByHalfIsAsIfHalfAsManyHadBeenSeen() {
    add(20, 800, 100);
    sums.fade(0.5);
    double faded = sums.slowness();
    PrefillSums half = new PrefillSums(1);
    for (int i = 0; i < 10; i++) {
      half.add(800, 100);
    }
    assertThat(faded).isCloseTo(half.slowness(), within(1e-9));
    sums.fade(1);
    assertThat(sums.slowness()).isEqualTo(faded);
  }
}
