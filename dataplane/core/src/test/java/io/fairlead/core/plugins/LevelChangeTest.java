package io.fairlead.core.plugins;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LevelChangeTest {

  private final LevelChange change = new LevelChange(0.2, 2);

  @Test
  void aLargeChangeIsToldAtTheSecondObservation() {
    assertThat(change.observe(1.4)).isZero();
    assertThat(change.observe(1.4)).isEqualTo(2);
    assertThat(change.mean()).isCloseTo(1.4, within(1e-9));
  }

  @Test
  void aSmallChangeTakesMoreAndTheMeanIsOfThoseSinceItBegan() {
    for (int i = 0; i < 20; i++) {
      assertThat(change.observe(0)).isZero();
    }
    int told = 0;
    int taken = 0;
    while (told == 0) {
      told = change.observe(-0.4);
      taken++;
    }
    assertThat(taken).isBetween(10, 11);
    assertThat(told).isEqualTo(taken);
    assertThat(change.mean()).isCloseTo(-0.4, within(1e-9));
  }

  @Test
  void oneStrangeObservationIsNoChange() {
    assertThat(change.observe(1.4)).isZero();
    for (int i = 0; i < 20; i++) {
      assertThat(change.observe(0)).isZero();
    }
    assertThat(change.observe(1.4)).isZero();
  }

  @Test
  void whatWasForgottenDoesNotCount() {
    change.observe(1.4);
    change.forget();
    assertThat(change.observe(1.4)).isZero();
  }

  /** Steps of engines differ by about that much. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void noiseIsNoChange(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 2_000; i++) {
      assertThat(change.observe(0.25 * random.nextGaussian())).isZero();
    }
  }
}
