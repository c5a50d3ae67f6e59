package io.fairlead.core;

import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.VirtualPool.Manner;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Behind a proxy a server that sends heads and closes looks as if all its clients left: it answers
 * at once, has the shortest queue of all, and would draw nearly all that comes.
 */
class CutAtOnceTest {
  private static final long FROM = 20 * SECOND;
  private static final long TO = 60 * SECOND;
  private static final long END = 120 * SECOND;

  private static VirtualPool behindAProxy(long seed, int servers, double perSecond) {
    VirtualPool pool = new VirtualPool(seed, servers, "cost");
    pool.gateway = false;
    pool.groups = 20;
    pool.traffic(perSecond, END);
    return pool;
  }

  private static int failed(VirtualPool pool) {
    return pool.failedBetween(0, END + SECOND);
  }

  @ParameterizedTest
  @CsvSource({"BREAKS_OFF,8", "BREAKS_HEAD_OFF,8", "BREAKS_LATE_HEAD_OFF,25"})
  void whoClosesAfterTheHeadGetsNextToNothing(Manner manner, int most) {
    for (long seed = 1; seed <= 5; seed++) {
      VirtualPool pool = behindAProxy(seed, 8, 80);
      pool.fault(0, manner, FROM, TO);
      pool.runUntil(FROM + SECOND);
      assertThat(pool.health(0)).as("seed %d", seed).isEqualTo(HealthState.OUT);
      pool.runUntil(END);
      assertThat(failed(pool)).as("seed %d", seed).isBetween(1, most);
      assertThat(pool.servers.getFirst().sentAfter(TO + 10 * SECOND))
          .as("of some 500 requests for each, once it is well")
          .isGreaterThan(200);
    }
  }

  /** Of 200 and of some thousand requests that would be lost. */
  @ParameterizedTest
  @CsvSource({"BREAKS_HALF_OFF,60", "BREAKS_REQUESTS_OFF,40", "BREAKS_OFF_LATE,40"})
  void whoServesSomethingIsFoundAllTheSame(Manner manner, int most) {
    for (long seed = 1; seed <= 5; seed++) {
      VirtualPool pool = behindAProxy(seed, 8, 80);
      pool.fault(0, manner, FROM, TO);
      pool.runUntil(END);
      assertThat(failed(pool)).as("seed %d", seed).isLessThan(most);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whereNobodyProbesWhatItServesClearsIt(long seed) {
    VirtualPool pool = behindAProxy(seed, 8, 80);
    pool.probing = false;
    pool.fault(0, Manner.BREAKS_HALF_OFF, FROM, FROM + 3 * SECOND);
    pool.runUntil(END);
    assertThat(pool.servers.getFirst().sentAfter(END - 60 * SECOND))
        .as("of some 600 requests for each")
        .isGreaterThan(350);
  }

  /** Where all are sick nothing helps, and nothing is made worse. */
  @ParameterizedTest
  @EnumSource(names = {"BREAKS_OFF", "BREAKS_HEAD_OFF", "BREAKS_HALF_OFF", "BREAKS_OFF_LATE"})
  void whereAllCloseTheyAreBackAsSoonAsTheyAreWell(Manner manner) {
    VirtualPool pool = behindAProxy(1, 4, 40);
    pool.faultOfAll(manner, FROM, TO);
    pool.runUntil(END);
    assertThat(pool.failedBetween(TO + 10 * SECOND, END)).isZero();
    assertThat(pool.rejected).isZero();
    for (int server = 0; server < 4; server++) {
      assertThat(pool.servers.get(server).sentAfter(TO + 20 * SECOND)).isGreaterThan(200);
    }
  }

  /** Editors that complete code ask at each key, and drop what they asked before. */
  @ParameterizedTest
  @ValueSource(doubles = {0.02, 0.1, 0.5, 0.9})
  void clientsThatLeaveAtOnceMakeNobodySuspicious(double share) {
    VirtualPool pool = behindAProxy(7, 4, 40);
    pool.impatient = share;
    pool.runUntil(END);
    assertThat(pool.changes).isEmpty();
    int most = 0;
    int least = Integer.MAX_VALUE;
    for (VirtualPool.Server server : pool.servers) {
      most = Math.max(most, server.sent);
      least = Math.min(least, server.sent);
    }
    assertThat((double) most / least).as("most sent to a server over least").isLessThan(1.6);
  }
}
