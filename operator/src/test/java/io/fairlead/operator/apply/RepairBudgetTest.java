package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RepairBudgetTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @Test
  void sixAtOnceThenOneInFiveMinutes() {
    RepairBudget budget = new RepairBudget(Duration.ofMinutes(5));
    for (int i = 0; i < 6; i++) {
      assertThat(take(budget, "a", NOW)).isEmpty();
    }
    assertThat(take(budget, "a", NOW)).contains(Duration.ofMinutes(5));
    assertThat(take(budget, "b", NOW)).as("another pool").isEmpty();
    assertThat(take(budget, "a", NOW.plusSeconds(299))).contains(Duration.ofSeconds(1));
    assertThat(take(budget, "a", NOW.plusSeconds(300))).isEmpty();
    assertThat(take(budget, "a", NOW.plusSeconds(300))).isPresent();
    Instant later = NOW.plus(Duration.ofHours(1));
    for (int i = 0; i < 6; i++) {
      assertThat(take(budget, "a", later)).isEmpty();
    }
    assertThat(take(budget, "a", later)).isPresent();
  }

  @Test
  void aClockThatIsSetBackMakesNobodyWaitLonger() {
    RepairBudget budget = new RepairBudget(Duration.ofMinutes(5));
    for (int i = 0; i < 6; i++) {
      assertThat(take(budget, "a", NOW)).isEmpty();
    }
    Instant yesterday = NOW.minus(Duration.ofDays(1));
    assertThat(take(budget, "a", yesterday)).contains(Duration.ofMinutes(5));
    assertThat(take(budget, "a", NOW.plus(Duration.ofDays(1)))).isEmpty();
  }

  /** As one does that takes what there is. */
  private static Optional<Duration> take(RepairBudget budget, String pool, Instant now) {
    Optional<Duration> left = budget.left(pool, now);
    if (left.isEmpty()) {
      budget.take(pool, now);
    }
    return left;
  }

  @Test
  void whoOnlyAsksTakesNothing() {
    RepairBudget budget = new RepairBudget(Duration.ofMinutes(5));
    for (int i = 0; i < 20; i++) {
      assertThat(budget.left("a", NOW)).isEmpty();
    }
  }
}
