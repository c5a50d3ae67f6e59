package io.fairlead.epp.external;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CircuitBreakerTest {

  private static final long SECOND = 1_000_000_000;

  private final CircuitBreaker breaker = new CircuitBreaker();
  private final Random random = new Random(1);
  private long now = -SECOND;

  @ParameterizedTest
  @CsvSource({"1000, 0.6", "1000, 0.9", "1000, 1", "50, 0.7", "50, 1", "1, 1"})
  void opensForOneThatIsLateMoreOftenThanNot(int perSecond, double share) {
    answers(perSecond, 60, 0.1);
    assertThat(breaker.open()).isFalse();
    answers(perSecond, Math.max(2, 32 / perSecond), share);
    assertThat(breaker.open()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {1000, 50})
  void staysClosedForOneThatIsInTimeMoreOftenThanNot(int perSecond) {
    answers(perSecond, 60, 0.2);
    assertThat(breaker.open()).isFalse();
  }

  /** However many requests come at once: what was in time long ago says nothing of now. */
  @Test
  void oneThatBecomesLateIsGivenUpAtTheNextBurst() {
    for (int burst = 0; burst < 10; burst++) {
      answersAtOnce(200, false);
    }
    answersAtOnce(200, true);
    assertThat(breaker.open()).as("it may be one pause").isFalse();
    answersAtOnce(1, true);
    assertThat(breaker.open()).isTrue();
  }

  private void answersAtOnce(int count, boolean late) {
    now += 5 * SECOND;
    for (int i = 0; i < count; i++) {
      if (late) {
        breaker.late(now);
      } else {
        breaker.inTime(now);
      }
    }
  }

  @Test
  void onePauseOpensNothing() {
    for (int i = 0; i < 200; i++) {
      assertThat(breaker.late(7)).as("all of one pause").isFalse();
    }
    assertThat(breaker.late(6 + CircuitBreaker.PAUSE_NANOS)).isFalse();
    assertThat(breaker.late(7 + CircuitBreaker.PAUSE_NANOS)).isTrue();
    assertThat(breaker.late(8 + CircuitBreaker.PAUSE_NANOS)).as("it is open already").isFalse();
  }

  @Test
  void aLongerPauseBetweenAnswersInTimeOpensNothing() {
    for (int i = 0; i < 10; i++) {
      answers(1_000, 1, 0);
      for (int late = 0; late < 400; late++) {
        now += SECOND / 1_000;
        assertThat(breaker.late(now)).isFalse();
      }
    }
  }

  @Test
  void closesAfterTrialsInTime() {
    assertThat(breaker.tries(1L << 40)).as("nothing to try while it is closed").isFalse();
    for (int i = 0; i < CircuitBreaker.LATE; i++) {
      breaker.late(i == 0 ? -CircuitBreaker.PAUSE_NANOS : 0);
    }
    assertThat(breaker.tries(CircuitBreaker.TRIAL_NANOS - 1)).isFalse();
    assertThat(breaker.tries(CircuitBreaker.TRIAL_NANOS)).isTrue();
    assertThat(breaker.tries(CircuitBreaker.TRIAL_NANOS + 1)).isFalse();
    for (int i = 1; i < CircuitBreaker.IN_TIME; i++) {
      breaker.inTime(0);
    }
    breaker.late(0);
    for (int i = 1; i < CircuitBreaker.IN_TIME; i++) {
      breaker.inTime(0);
      assertThat(breaker.open()).as("they must be in a row").isTrue();
    }
    breaker.inTime(0);
    assertThat(breaker.open()).isFalse();
    assertThat(breaker.late(SECOND)).as("what was before it opened is over").isFalse();
  }

  /** Independent of one another; ends when it opens. */
  private void answers(int perSecond, int seconds, double late) {
    for (int i = 0; i < perSecond * seconds && !breaker.open(); i++) {
      now += SECOND / perSecond;
      if (random.nextDouble() < late) {
        breaker.late(now);
      } else {
        breaker.inTime(now);
      }
    }
  }
}
