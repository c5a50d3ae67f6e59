package io.fairlead.core.plugins.cost;

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
    assertThat(change.observe(3 + 1.4, 3)).isZero();
    assertThat(change.observe(3 + 1.4, 3)).isEqualTo(2);
    assertThat(change.level()).isCloseTo(4.4, within(1e-9));
  }

  @Test
  void aSmallChangeTakesMoreAndTheLevelIsOfThoseSinceItBegan() {
    for (int i = 0; i < 20; i++) {
      assertThat(change.observe(3 + 0, 3)).isZero();
    }
    int told = 0;
    int taken = 0;
    while (told == 0) {
      told = change.observe(3 - 0.4, 3);
      taken++;
    }
    assertThat(taken).isBetween(10, 11);
    assertThat(told).isEqualTo(taken);
    assertThat(change.level()).isCloseTo(2.6, within(1e-9));
  }

  /** The level that is believed in follows, meanwhile: what is told does not depend on that. */
  @Test
  void theNewLevelIsWhatWasSeen() {
    assertThat(change.observe(2.1, 0)).isZero();
    assertThat(change.observe(2.1, 1.5)).isEqualTo(2);
    assertThat(change.level()).isCloseTo(2.1, within(1e-9));
  }

  @Test
  void oneStrangeObservationIsNoChange() {
    assertThat(change.observe(3 + 1.4, 3)).isZero();
    for (int i = 0; i < 20; i++) {
      assertThat(change.observe(3 + 0, 3)).isZero();
    }
    assertThat(change.observe(3 + 1.4, 3)).isZero();
  }

  @Test
  void whatWasForgottenDoesNotCount() {
    change.observe(3 + 1.4, 3);
    change.forget();
    assertThat(change.observe(3 + 1.4, 3)).isZero();
  }

  /** Steps of engines differ by about that much. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void noiseIsNoChange(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 2_000; i++) {
      assertThat(change.observe(3 + 0.25 * random.nextGaussian(), 3)).isZero();
    }
  }
}
