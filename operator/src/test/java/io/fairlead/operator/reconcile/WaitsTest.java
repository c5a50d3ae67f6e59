package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WaitsTest {
  private final AtomicLong nanos = new AtomicLong();

  /** Else a grace that an operator is given might never end where others begin meanwhile. */
  @Test
  void aWaitOfHoursIsNotForgottenWhenAnotherBegins() {
    Waits waits = Waits.ofUpTo(Duration.ofHours(2), nanos::get);
    waits.since("one", "grace");
    pass(Duration.ofMinutes(90));
    assertThat(waits.since("other", "grace")).isZero();
    assertThat(waits.since("one", "grace")).isEqualTo(Duration.ofMinutes(90));
  }

  @Test
  void aWaitThatNobodyEndsIsForgotten() {
    Waits waits = new Waits(nanos::get);
    waits.since("one", "grace");
    pass(Duration.ofMinutes(61));
    assertThat(waits.since("other", "grace")).isZero();
    assertThat(waits.since("one", "grace")).isZero();
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
