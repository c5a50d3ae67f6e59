package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BudgetTest {
  /** Such a clock may show anything when it begins, and runs over. */
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);

  private final Budget budget = new Budget(Budget.REPAIRS, Duration.ofMinutes(5), nanos::get);

  @Test
  void sixAtOnceThenOneInFiveMinutes() {
    for (int i = 0; i < 6; i++) {
      assertThat(take("a")).isEmpty();
    }
    assertThat(take("a")).contains(Duration.ofMinutes(5));
    assertThat(take("b")).as("another pool").isEmpty();
    pass(Duration.ofSeconds(299));
    assertThat(take("a")).contains(Duration.ofSeconds(1));
    pass(Duration.ofSeconds(1));
    assertThat(take("a")).isEmpty();
    assertThat(take("a")).isPresent();
    pass(Duration.ofHours(1));
    for (int i = 0; i < 6; i++) {
      assertThat(take("a")).isEmpty();
    }
    assertThat(take("a")).isPresent();
  }

  @Test
  void whoTakesMoreThanThereIsWaitsNoLonger() {
    for (int i = 0; i < 20; i++) {
      budget.take("a");
    }
    assertThat(budget.left("a")).contains(Duration.ofMinutes(5));
  }

  @Test
  void whoOnlyAsksTakesNothing() {
    for (int i = 0; i < 20; i++) {
      assertThat(budget.left("a")).isEmpty();
    }
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  /** As one does that takes what there is. */
  private Optional<Duration> take(String pool) {
    Optional<Duration> left = budget.left(pool);
    if (left.isEmpty()) {
      budget.take(pool);
    }
    return left;
  }
}
