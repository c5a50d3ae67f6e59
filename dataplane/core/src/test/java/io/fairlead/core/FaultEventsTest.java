package io.fairlead.core;

import static io.fairlead.core.VirtualPool.MILLI;
import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.VirtualPool.Manner;
import io.fairlead.core.VirtualPool.Server;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A million random events with servers that fail in every manner, restart, leave and come back: no
 * request is lost or ends twice, nothing is counted that is not there, and nothing is left. The
 * virtual pool itself throws where a request is sent that is over or answered, or to one that left.
 */
@TestInstance(Lifecycle.PER_CLASS)
class FaultEventsTest {

  private static final int EVENTS = 125_000;
  private static final Manner[] MANNERS = Manner.values();
  private final Map<Long, Integer> eventsBySeed = new TreeMap<>();
  private final Map<String, Integer> counts = new TreeMap<>();

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 42, 1_789, 20_261_122})
  void conservation(long seed) {
    conservation(seed, new VirtualPool(seed, 9, seed % 2 == 0 ? "cost" : "weighted"));
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {11, 12, 13, 14})
  void conservationWhereRequestsWait(long seed) {
    VirtualPool pool = VirtualPool.withQueue(seed, 9, 4, false);
    conservation(seed, pool);
    counts.merge("waited", pool.waited, Integer::sum);
    assertThat(pool.waited).isGreaterThan(1_000);
    assertThat(pool.core.waiting()).isZero();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {15, 16, 17})
  void conservationWhereRequestsInFlightMakeRoom(long seed) {
    VirtualPool pool = VirtualPool.withQueue(seed, 9, 3, true);
    pool.sheddable = 0.5;
    conservation(seed, pool);
    assertThat(pool.failures).filteredOn("evicted_in_flight"::equals).hasSizeGreaterThan(100);
    assertThat(pool.core.waiting()).isZero();
  }

  private void conservation(long seed, VirtualPool pool) {
    pool.streamed = 0.6;
    pool.traffic(60, Long.MAX_VALUE);
    while (pool.events < EVENTS) {
      disturb(pool);
      pool.runUntil(pool.now + pool.random.nextLong(600 * MILLI));
      compare(pool);
    }
    eventsBySeed.put(seed, pool.events);
    counts.merge("requests", pool.arrived, Integer::sum);
    counts.merge("completed", pool.completed, Integer::sum);
    counts.merge("disconnected", pool.disconnected, Integer::sum);
    pool.failures.forEach(how -> counts.merge(how, 1, Integer::sum));
    pool.changes.forEach(change -> counts.merge("to " + change.to().words(), 1, Integer::sum));
    pool.servers.forEach(s -> s.manner = Manner.WELL);
    pool.core.endpoints(pool.now, List.of());
    pool.traffic = false;
    pool.runUntil(pool.now + 4_000 * SECOND);
    assertThat(pool.open()).as("requests that nobody ended").isZero();
    assertThat(pool.core.active()).isZero();
    assertThat(pool.core.snapshot()).isEmpty();
  }

  private void disturb(VirtualPool pool) {
    Server server = pool.servers.get(pool.random.nextInt(pool.servers.size()));
    int kind = pool.random.nextInt(20);
    if (kind < 4) {
      server.manner = MANNERS[pool.random.nextInt(MANNERS.length)];
    } else if (kind < 10) {
      server.manner = Manner.WELL;
    } else if (kind == 10) {
      pool.kill(server);
    } else if (kind == 11) {
      pool.restart(server);
    } else if (kind < 14) {
      pool.hangUp();
    } else if (kind == 14) {
      pool.gateway = !pool.gateway;
    } else if (kind == 15) {
      pool.probing = pool.random.nextInt(4) > 0;
    } else if (kind == 16) {
      List<Server> some = new ArrayList<>(pool.servers);
      some.removeIf(s -> pool.random.nextInt(4) == 0);
      if (pool.random.nextBoolean()) {
        server.incarnation++;
      }
      pool.list(some);
      counts.merge("endpoints", 1, Integer::sum);
    } else if (kind == 17 && pool.random.nextInt(10) == 0) {
      pool.servers.forEach(s -> s.manner = MANNERS[pool.random.nextInt(MANNERS.length)]);
      counts.merge("all disturbed", 1, Integer::sum);
    }
  }

  private static void compare(VirtualPool pool) {
    assertThat(pool.core.active()).isEqualTo(pool.open());
    assertThat(pool.arrived)
        .isEqualTo(pool.completed + pool.disconnected + pool.failures.size() + pool.open());
    int inFlight = 0;
    for (EndpointSnapshot endpoint : pool.core.snapshot()) {
      assertThat(endpoint.inFlight()).isNotNegative();
      assertThat(endpoint.awaitingFirstToken()).isBetween(0, endpoint.inFlight());
      assertThat(endpoint.health().failing()).isBetween(0.0, 1.0);
      inFlight += endpoint.inFlight();
    }
    assertThat(inFlight).isEqualTo(pool.open() - pool.core.waiting());
  }

  @AfterAll
  void sayWhatWasDone() {
    System.out.printf(
        "fault events: %,d over seeds %s: %s%n",
        eventsBySeed.values().stream().mapToInt(Integer::intValue).sum(),
        eventsBySeed.keySet(),
        counts.entrySet().stream()
            .map(e -> e.getKey() + " " + e.getValue())
            .collect(Collectors.joining(", ")));
  }
}
