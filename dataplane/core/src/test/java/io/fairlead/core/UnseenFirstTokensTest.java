package io.fairlead.core;

import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Servers that take all requests at once, and say so: nobody may be held back for not being seen to
 * have a first token.
 */
class UnseenFirstTokensTest {

  private static final long ANSWER = 400 * VirtualPool.MILLI;

  @ParameterizedTest
  @CsvSource({"50, STANDARD", "300, STANDARD", "300, SHEDDABLE", "1000, CRITICAL"})
  void answersInOnePieceDontWaitForServersThatTakeThem(double perSecond, Criticality criticality) {
    for (long seed = 1; seed <= 3; seed++) {
      VirtualPool pool = new VirtualPool(seed, 2, "cost", criticality);
      pool.streamed = 0;
      pool.traffic(2 * perSecond, 20 * SECOND);
      pool.runUntil(30 * SECOND);
      assertThat(pool.failures).as("seed " + seed).isEmpty();
      assertThat(pool.waited).as("who waited, seed " + seed).isZero();
      assertThat(pool.longestWait).isEqualTo(ANSWER);
    }
  }

  @ParameterizedTest
  @CsvSource({"50, STANDARD", "300, STANDARD", "300, SHEDDABLE", "1000, CRITICAL"})
  void requestsThatAreLeftDontEither(double perSecond, Criticality criticality) {
    for (long seed = 1; seed <= 3; seed++) {
      VirtualPool pool = new VirtualPool(seed, 2, "cost", criticality);
      pool.leaves = true;
      pool.traffic(2 * perSecond, 20 * SECOND);
      pool.runUntil(40 * SECOND);
      assertThat(pool.failures).as("seed " + seed).isEmpty();
      assertThat(pool.waited).as("who waited, seed " + seed).isZero();
      assertThat(pool.core.active()).isZero();
    }
  }
}
