package io.fairlead.core;

import static io.fairlead.core.Pool.model;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.TargetModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever becomes of requests and endpoints, slots that were promised are given or taken back. */
class AdapterTurnsRandomTest implements RequestListener {

  private static final int EVENTS = 20_000;
  private static final long MILLI = 1_000_000;
  private static final List<String> ENDPOINTS = List.of("one", "two", "three");
  private static final List<String> ADAPTERS = List.of("a", "b", "c", "d", "e", "f", "g", "h");
  private static final int SLOTS = 2;

  private final Pool pool = new Pool();
  private final Map<Long, Long> waiting = new HashMap<>();
  private final List<Long> sent = new ArrayList<>();
  private int rejected;
  private int longWaits;

  @Override
  public void send(long request, Route route) {
    Long since = waiting.remove(request);
    longWaits += since != null && pool.now - since > 4_100 * MILLI ? 1 : 0;
    sent.add(request);
  }

  @Override
  public void waits(long request, Criticality criticality) {
    assertThat(waiting.put(request, pool.now)).isNull();
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    waiting.remove(request);
    rejected++;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void everyAdapterFindsASlotOnceAllIsOver(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    pool.configure(
        model("split", Criticality.STANDARD, new TargetModel("a", 1), new TargetModel("h", 1)));
    pool.endpoints(ENDPOINTS.toArray(String[]::new));
    ENDPOINTS.forEach(name -> scraped(name, ADAPTERS));
    int arrived = 0;
    int ended = 0;
    for (int i = 0; i < EVENTS; i++) {
      pool.now += random.nextLong(200 * MILLI);
      switch (random.nextInt(20)) {
        case 0, 1, 2, 3, 4, 5 -> {
          arrived++;
          pool.core.arrive(pool.now, Pool.request(name(random), random.nextLong(), i), this);
        }
        case 6, 7, 8, 9, 10, 11, 12 -> {
          if (!sent.isEmpty()) {
            // Those of one adapter go on and on in some runs, and are over soon in others.
            int which = random.nextInt(sent.size());
            pool.core.firstByte(pool.now, sent.get(which));
            if (random.nextInt(3) > 0) {
              pool.core.ended(pool.now, sent.remove(which), Outcome.COMPLETED, Usage.UNKNOWN);
              ended++;
            }
          }
        }
        case 13 -> {
          if (!waiting.isEmpty()) {
            long gone = waiting.keySet().iterator().next();
            waiting.remove(gone);
            pool.core.ended(pool.now, gone, Outcome.DISCONNECTED, Usage.UNKNOWN);
            ended++;
          }
        }
        case 14 -> {
          if (random.nextInt(50) == 0) {
            String left = ENDPOINTS.get(random.nextInt(ENDPOINTS.size()));
            pool.endpoints(
                ENDPOINTS.stream().filter(name -> !name.equals(left)).toArray(String[]::new));
            pool.core.tick(pool.now);
            pool.endpoints(ENDPOINTS.toArray(String[]::new));
          }
        }
        case 15 -> scraped(ENDPOINTS.get(random.nextInt(ENDPOINTS.size())), List.of());
        default -> pool.core.tick(pool.now);
      }
      assertThat(pool.core.waiting()).isEqualTo(waiting.size());
      assertThat(sent.size() + waiting.size() + rejected + ended).isEqualTo(arrived);
    }
    assertThat(longWaits).as("who was sent once it was promised a slot").isPositive();
    while (!sent.isEmpty() || !waiting.isEmpty()) {
      assertThat(sent).as("while nobody is served, nobody need wait").isNotEmpty();
      pool.core.ended(pool.now, sent.removeLast(), Outcome.COMPLETED, Usage.UNKNOWN);
    }
    pool.core.tick(pool.now += 5_000 * MILLI);
    ENDPOINTS.forEach(name -> scraped(name, List.of()));
    for (int first = 0; first < ADAPTERS.size(); first++) {
      for (int i = 0; i < SLOTS * ENDPOINTS.size(); i++) {
        String adapter = ADAPTERS.get((first + i) % ADAPTERS.size());
        pool.core.arrive(pool.now, Pool.request(adapter, i, i), this);
      }
      assertThat(waiting).as("nothing is promised to anybody").isEmpty();
      while (!sent.isEmpty()) {
        pool.core.ended(pool.now, sent.removeLast(), Outcome.COMPLETED, Usage.UNKNOWN);
      }
    }
  }

  private static String name(SplittableRandom random) {
    int drawn = random.nextInt(ADAPTERS.size() + 3);
    // The first are asked for far more often than the last.
    return drawn >= ADAPTERS.size()
        ? List.of("a", "base", "split").get(drawn - ADAPTERS.size())
        : ADAPTERS.get(random.nextInt(drawn + 1));
  }

  private void scraped(String name, List<String> running) {
    pool.core.scraped(
        pool.now,
        Pool.endpoint(name),
        pool.now,
        new EndpointMetrics(0, 4, 0.1, 16, 10_000, "base", SLOTS, running, List.of(), Map.of()));
  }
}
