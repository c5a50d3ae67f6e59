package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Rejection.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** This process has no socket left: nobody was asked, so nobody is to blame. */
class NoSocketTest {

  private final List<Probe> probes = new ArrayList<>();
  private final List<HealthChange> changes = new ArrayList<>();
  private final Pool pool =
      new Pool(
          new PoolListener() {
            @Override
            public boolean probe(Probe probe) {
              probes.add(probe);
              return true;
            }

            @Override
            public void healthChanged(HealthChange change) {
              changes.add(change);
            }
          });

  @Test
  void noEndpointIsOutHoweverManyRequestsFail() {
    pool.configure().endpoints("a", "b");
    for (int i = 0; i < 200; i++) {
      pool.now += Duration.ofMillis(10).toNanos();
      long ticket = pool.arrive("m");
      while (pool.rejections.size() <= i) {
        pool.core.attemptFailed(pool.now, ticket, Failure.NO_SOCKET);
      }
    }
    assertThat(changes).isEmpty();
    assertThat(pool.snapshot("a").health().failing()).isZero();
    assertThat(pool.snapshot("b").health().failing()).isZero();
    assertThat(pool.rejections).extracting(Rejection::reason).containsOnly(Reason.NO_SOCKET);
    assertThat(pool.core.active()).isZero();
  }

  /** There may be a local port left for another. */
  @Test
  void aRequestIsSentToAnother() {
    pool.configure().endpoints("a", "b");
    long ticket = pool.arrive("m");
    pool.core.attemptFailed(pool.now, ticket, Failure.NO_SOCKET);
    assertThat(pool.lastRoute().attempt()).isEqualTo(2);
    pool.core.firstByte(pool.now, ticket);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(pool.core.active()).isZero();
  }

  @Test
  void aProbeThatCouldNotBeMadeMakesNoPauseLonger() {
    pool.configure().endpoints("a");
    pool.core.attemptFailed(pool.now, pool.arrive("m"), Failure.REFUSED);
    for (int i = 0; i < 100; i++) {
      pool.now += Duration.ofMillis(100).toNanos();
      int before = probes.size();
      pool.core.tick(pool.now);
      if (probes.size() > before) {
        pool.core.probeFailed(pool.now, probes.getLast().id(), Failure.NO_SOCKET);
      }
    }
    assertThat(probes).as("one a second, for ten seconds").hasSizeGreaterThanOrEqualTo(9);
  }
}
