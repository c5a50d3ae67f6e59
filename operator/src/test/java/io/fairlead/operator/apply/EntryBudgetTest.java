package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class EntryBudgetTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @Test
  void sixAtOnceThenOneInFiveMinutes() {
    EntryBudget budget = new EntryBudget();
    for (int i = 0; i < 6; i++) {
      assertThat(budget.take("a", NOW)).isEmpty();
    }
    assertThat(budget.take("a", NOW)).contains(Duration.ofMinutes(5));
    assertThat(budget.take("b", NOW)).as("another pool").isEmpty();
    assertThat(budget.take("a", NOW.plusSeconds(299))).contains(Duration.ofSeconds(1));
    assertThat(budget.take("a", NOW.plusSeconds(300))).isEmpty();
    assertThat(budget.take("a", NOW.plusSeconds(300))).isPresent();
    Instant later = NOW.plus(Duration.ofHours(1));
    for (int i = 0; i < 6; i++) {
      assertThat(budget.take("a", later)).isEmpty();
    }
    assertThat(budget.take("a", later)).isPresent();
  }

  @Test
  void aClockThatIsSetBackMakesNobodyWaitLonger() {
    EntryBudget budget = new EntryBudget();
    for (int i = 0; i < 6; i++) {
      assertThat(budget.take("a", NOW)).isEmpty();
    }
    Instant yesterday = NOW.minus(Duration.ofDays(1));
    assertThat(budget.take("a", yesterday)).contains(Duration.ofMinutes(5));
    assertThat(budget.take("a", NOW.plus(Duration.ofDays(1)))).isEmpty();
  }
}
