package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EngineTimeTest {

  @Test
  void goesAsTheRunDoesUnlessToldOtherwise() {
    EngineTime time = new EngineTime();

    assertThat(time.at(1_234_567_890_123_456_789L)).isEqualTo(1_234_567_890_123_456_789L);
    assertThat(time.when(1_234_567_890_123_456_789L)).isEqualTo(1_234_567_890_123_456_789L);
    assertThat(time.when(Timeline.NEVER)).isEqualTo(Timeline.NEVER);
  }

  @Test
  void standsStillWhileStopped() {
    EngineTime time = new EngineTime();
    time.pace(100, time.at(100), 1, true);
    assertThat(time.at(5_000)).isEqualTo(100);
    assertThat(time.when(101)).isEqualTo(Timeline.NEVER);

    time.pace(5_000, time.at(5_000), 1, false);
    assertThat(time.at(5_010)).isEqualTo(110);
    assertThat(time.when(110)).isEqualTo(5_010);
  }

  /** Whatever the pace: when a time comes it has been reached, but for a rounding error. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void comesWhenItSays(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    EngineTime time = new EngineTime();
    long now = 0;
    for (int i = 0; i < 10_000; i++) {
      now += random.nextLong(1_000_000_000);
      long reached = time.at(now);
      time.pace(now, reached, random.nextInt(3) == 0 ? 1 : random.nextDouble(0.5, 20), false);
      long later = reached + random.nextLong(1_000_000_000);

      assertThat(time.at(now)).as("seed %d", seed).isEqualTo(reached);
      assertThat(time.at(time.when(later))).isBetween(later - 1, later + 2);
    }
  }
}
