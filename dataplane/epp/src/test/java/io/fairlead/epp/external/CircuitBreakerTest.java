package io.fairlead.epp.external;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CircuitBreakerTest {

  private final CircuitBreaker breaker = new CircuitBreaker();

  @Test
  void opensOnlyWhenManyInARowAreLate() {
    for (int round = 0; round < 5; round++) {
      for (int i = 1; i < CircuitBreaker.LATE; i++) {
        assertThat(breaker.late(0)).isFalse();
      }
      breaker.inTime();
    }
    assertThat(breaker.open()).isFalse();
    for (int i = 0; i < 2 * CircuitBreaker.LATE; i++) {
      assertThat(breaker.late(7)).as("all of one pause").isFalse();
    }
    assertThat(breaker.late(7 + CircuitBreaker.ROW_NANOS)).isTrue();
    assertThat(breaker.open()).isTrue();
    assertThat(breaker.late(8 + CircuitBreaker.ROW_NANOS)).as("it is open already").isFalse();
  }

  @Test
  void closesAfterTrialsInTime() {
    assertThat(breaker.tries(1L << 40)).as("nothing to try while it is closed").isFalse();
    for (int i = 0; i < CircuitBreaker.LATE; i++) {
      breaker.late(i == 0 ? -CircuitBreaker.ROW_NANOS : 0);
    }
    assertThat(breaker.tries(CircuitBreaker.TRIAL_NANOS - 1)).isFalse();
    assertThat(breaker.tries(CircuitBreaker.TRIAL_NANOS)).isTrue();
    assertThat(breaker.tries(CircuitBreaker.TRIAL_NANOS + 1)).isFalse();
    for (int i = 1; i < CircuitBreaker.IN_TIME; i++) {
      breaker.inTime();
    }
    breaker.late(0);
    for (int i = 1; i < CircuitBreaker.IN_TIME; i++) {
      breaker.inTime();
      assertThat(breaker.open()).as("they must be in a row").isTrue();
    }
    breaker.inTime();
    assertThat(breaker.open()).isFalse();
  }
}
