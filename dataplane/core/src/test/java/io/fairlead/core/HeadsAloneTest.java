package io.fairlead.core;

import static io.fairlead.core.VirtualPool.MILLI;
import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.VirtualPool.Manner;
import io.fairlead.core.VirtualPool.Server;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Heads of answers whose bodies don't come, as of a server whose engine hangs behind a frontend
 * that is well: behind a proxy, a request can't be sent elsewhere from then on, in a gateway it
 * can.
 */
class HeadsAloneTest {
  private static final long FROM = 20 * SECOND;
  private static final long TO = 80 * SECOND;
  private static final long END = 160 * SECOND;

  private static VirtualPool behindAProxy(long seed, int servers, String profile) {
    VirtualPool pool = new VirtualPool(seed, servers, profile);
    pool.gateway = false;
    pool.groups = 20;
    return pool;
  }

  /** Its clients wait: nothing else tells that their answers don't come. */
  @ParameterizedTest
  @CsvSource({"cost,20,2", "cost,80,8", "weighted,20,2", "weighted,80,2", "weighted,200,8"})
  void whoSendsNothingElseGetsNothingSoon(String profile, double perSecond, int servers) {
    for (long seed = 1; seed <= 2; seed++) {
      VirtualPool pool = behindAProxy(seed, servers, profile);
      pool.patience = 100 * SECOND;
      pool.traffic(perSecond, END);
      pool.fault(0, Manner.SENDS_HEADS_ALONE, FROM, TO);
      pool.runUntil(FROM + 15 * SECOND);
      assertThat(pool.changes.getFirst().to()).as("seed %d", seed).isEqualTo(HealthState.OUT);
      pool.runUntil(END);
      Server sick = pool.servers.getFirst();
      assertThat(sick.sentAfter(FROM + 2 * SECOND) - sick.sentAfter(TO))
          .as("sent in 58 s, after two")
          .isLessThan((int) (perSecond / servers) + 15);
      assertThat(sick.sentAfter(TO + 10 * SECOND)).as("once it is well").isGreaterThan(60);
    }
  }

  /** A gateway's client has none of such an answer: another endpoint gives it one. */
  @ParameterizedTest
  @CsvSource({"cost,20,2", "cost,2,4", "weighted,20,2", "weighted,80,8"})
  void aGatewaysRequestsGoElsewhereSoon(String profile, double perSecond, int servers) {
    for (long seed = 1; seed <= 2; seed++) {
      VirtualPool pool = new VirtualPool(seed, servers, profile);
      pool.groups = 20;
      pool.patience = 100 * SECOND;
      pool.traffic(perSecond, END);
      pool.fault(0, Manner.SENDS_HEADS_ALONE, FROM, TO);
      pool.runUntil(FROM + 15 * SECOND);
      assertThat(pool.changes.getFirst().to()).as("seed %d", seed).isEqualTo(HealthState.OUT);
      pool.runUntil(END + 30 * SECOND);
      Server sick = pool.servers.getFirst();
      assertThat(sick.sentAfter(FROM + 2 * SECOND) - sick.sentAfter(TO))
          .as("sent in 58 s, after two")
          .isLessThan((int) (perSecond / servers) + 35);
      assertThat(sick.sentAfter(TO + 10 * SECOND))
          .as("once it is well")
          .isGreaterThan((int) (70 * perSecond / servers / 4));
      assertThat(pool.failures).as("seed %d", seed).isEmpty();
      assertThat(pool.completed).as("seed %d", seed).isEqualTo(pool.arrived);
      assertThat(pool.longestWait).as("seed %d", seed).isLessThan(20 * SECOND);
    }
  }

  /** Each of eight sends its next request when it has an answer, or has waited for long enough. */
  @ParameterizedTest
  @CsvSource({"1,2", "10,2", "1,4", "10,4"})
  void clientsThatLeaveFindTheOthers(long patience, int servers) {
    for (long seed = 1; seed <= 3; seed++) {
      VirtualPool pool = behindAProxy(seed, servers, "weighted");
      pool.patience = patience * SECOND;
      pool.closedLoop = true;
      for (int i = 0; i < 8; i++) {
        pool.at(i * 30L * MILLI, pool::arrive);
      }
      pool.fault(0, Manner.SENDS_HEADS_ALONE, FROM, TO);
      pool.runUntil(TO);
      assertThat(pool.servers.getFirst().sentAfter(FROM)).as("seed %d", seed).isLessThan(30);
    }
  }

  /** Before anything is known, and later. */
  @ParameterizedTest
  @CsvSource({
    "1,40,0.2,false",
    "0.1,8,4,false",
    "0.02,9,20,false",
    "0.5,20,0.5,false",
    "0.1,20,2,false",
    "1,40,0.2,true",
    "0.1,8,4,true",
    "0.02,9,20,true",
    "0.1,20,2,true"
  })
  void modelsThatThinkFirstAreWaitedFor(
      double thinking, long seconds, double perSecond, boolean gateway) {
    VirtualPool pool = behindAProxy(1, 4, "cost");
    pool.gateway = gateway;
    pool.patience = 1_000 * SECOND;
    pool.headsFirst = true;
    pool.thinking = thinking;
    pool.thought = seconds * SECOND;
    pool.traffic(perSecond, END);
    pool.runUntil(END);
    assertThat(pool.changes).isEmpty();
    assertThat(pool.failures).isEmpty();
    for (Server server : pool.servers) {
      assertThat(server.sent).isGreaterThanOrEqualTo(pool.arrived / 4 / 2);
    }
  }

  /** As long as the prompt makes likely, where nothing else tells that it is computed. */
  @ParameterizedTest
  @ValueSource(strings = {"cost", "weighted"})
  void longPromptsAreWaitedFor(String profile) {
    VirtualPool pool = behindAProxy(1, 4, profile);
    pool.headsFirst = true;
    pool.traffic(2, END);
    pool.at(FROM, () -> pool.arrive(300_000, 40 * SECOND));
    pool.at(FROM + 50 * SECOND, () -> pool.arrive(300_000, 40 * SECOND));
    pool.runUntil(END);
    assertThat(pool.changes).isEmpty();
    assertThat(pool.failures).isEmpty();
  }
}
