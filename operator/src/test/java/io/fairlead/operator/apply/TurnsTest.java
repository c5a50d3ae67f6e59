package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private static final Duration ONE_MORE = Duration.ofMinutes(10);

  private final AtomicLong nanos = new AtomicLong();
  private final Queue<Runnable> later = new ArrayDeque<>();
  private final List<String> told = new ArrayList<>();
  private final Turns turns =
      new Turns(
          ONE_MORE,
          nanos::get,
          (telling, wait) -> {
            assertThat(wait).isPositive().isLessThanOrEqualTo(ONE_MORE);
            later.add(telling);
          });

  /** Else the last that is told of a pool that is full for hours is that it has room. */
  @Test
  void whatItHasComeToByThenIsToldLater() {
    turn("full");
    turn("room");
    turn("full");
    assertThat(told).containsExactly("full", "room");
    pass();
    assertThat(told).containsExactly("full", "room", "full");
    assertThat(later).isEmpty();
  }

  @Test
  void whatIsAgainAsItWasToldLastIsNotToldAgain() {
    for (int i = 0; i < 5; i++) {
      turn("full");
      turn("room");
    }
    assertThat(later).as("one wait for all").hasSize(1);
    pass();
    assertThat(told).containsExactly("full", "room");
  }

  @Test
  void afterALongTimeItIsToldAtOnce() {
    turn("full");
    turn("room");
    nanos.addAndGet(ONE_MORE.toNanos());
    turn("full");
    assertThat(told).containsExactly("full", "room", "full");
  }

  private void turn(String to) {
    turns.turn("pool", () -> told.add(to));
  }

  private void pass() {
    nanos.addAndGet(ONE_MORE.toNanos());
    later.remove().run();
  }
}
