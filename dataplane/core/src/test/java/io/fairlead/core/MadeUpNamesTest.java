package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names of models come from clients, who may ask for what nobody serves. */
class MadeUpNamesTest {

  private static final long MILLI = 1_000_000;
  private static final List<String> ENDPOINTS = List.of("a", "b", "c", "d");

  private final Pool pool = new Pool();

  /** Where each of a dozen adapters was served last, by four servers of four slots each. */
  private Map<String, String> settledAdapters() {
    pool.configure().endpoints(ENDPOINTS.toArray(String[]::new));
    scrape();
    Map<String, String> at = new TreeMap<>();
    for (int round = 0; round < 6; round++) {
      for (int i = 0; i < 12; i++) {
        at.put("lora-" + i, serve("lora-" + i));
      }
      scrape();
    }
    return at;
  }

  private void scrape() {
    for (String name : ENDPOINTS) {
      pool.core.scraped(
          pool.now,
          Pool.endpoint(name),
          pool.now,
          new EndpointMetrics(0, 0, 0.1, 16, 40_000, "base", 4, List.of(), List.of(), Map.of()));
    }
  }

  private String serve(String model) {
    long ticket = pool.core.arrive(pool.now, facts(model, 200), pool);
    pool.core.firstByte(pool.now += 20 * MILLI, ticket);
    pool.core.ended(pool.now += 100 * MILLI, ticket, Outcome.COMPLETED, new Usage(200, 20, -1));
    return pool.lastRoute().endpoint();
  }

  private RequestFacts facts(String model, int tokens) {
    return new RequestFacts(
        model, pool.now ^ model.hashCode(), new long[0], tokens, -1, 4L * tokens);
  }

  private List<String> moved(Map<String, String> before) {
    return before.keySet().stream()
        .filter(adapter -> !serve(adapter).equals(before.get(adapter)))
        .toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 8, 32})
  void namesThatNobodyServesDriveOutNoAdapter(int names) {
    Map<String, String> at = settledAdapters();
    for (int i = 0; i < names; i++) {
      long ticket = pool.core.arrive(pool.now, facts("no-such-" + i, 20), pool);
      pool.core.ended(pool.now += 2 * MILLI, ticket, Outcome.REFUSED, Usage.UNKNOWN);
    }
    assertThat(moved(at)).isEmpty();
  }

  /** Some that are on their way make their endpoints look a little busier, and no more. */
  @Test
  void norWhileTheyAreInFlight() {
    Map<String, String> at = settledAdapters();
    List<Long> inFlight = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      inFlight.add(pool.core.arrive(pool.now, facts("no-such-" + i, 1), pool));
    }
    assertThat(moved(at)).isEmpty();
    inFlight.forEach(ticket -> pool.core.ended(pool.now, ticket, Outcome.REFUSED, Usage.UNKNOWN));
    assertThat(moved(at)).isEmpty();
  }

  /** Requests for an adapter that is new here come together, though nobody has shown it yet. */
  @Test
  void aNewAdapterIsLoadedOnce() {
    settledAdapters();
    pool.core.arrive(pool.now, facts("new", 200), pool);
    String first = pool.lastRoute().endpoint();
    pool.core.arrive(pool.now += MILLI, facts("new", 200), pool);
    assertThat(pool.lastRoute().endpoint()).isEqualTo(first);
  }

  /** Requests of a model, and many more of somebody else's, by servers that serve any name. */
  private static final class Crowd implements RequestListener {

    private static final long SECOND = 1_000 * MILLI;
    private static final long END = 90 * SECOND;

    private final PoolCore core = new PoolCore();
    private final EventQueue events = new EventQueue();
    private final SplittableRandom random = new SplittableRandom(1);
    private int arrived;
    private int served;
    private long now;

    /** How many of the model's requests are served in a second, beside so many made-up names. */
    private double servedBeside(int names) {
      core.configure(0, Pool.withRoom(4, Pool.model("m", Criticality.STANDARD)));
      core.endpoints(0, ENDPOINTS.stream().map(Pool::endpoint).toList());
      for (long time = 0; time < END; time += SECOND / 10) {
        events.add(time, () -> core.tick(now));
      }
      traffic(SECOND / 30, true, 1);
      traffic(SECOND / 100, false, names);
      events.run(END, time -> now = time);
      return served / (END / (double) SECOND);
    }

    private void traffic(long each, boolean model, int names) {
      for (long time = each; time < END; time += each) {
        events.add(
            time,
            () -> {
              String name = model ? "m" : "made up " + arrived++ % names;
              core.arrive(now, Pool.request(name, random.nextLong(), random.nextLong()), this);
            });
      }
    }

    @Override
    public void send(long request, Route route) {
      boolean model = route.targetModel().equals("m");
      events.add(
          now + 400 * MILLI,
          () -> {
            core.firstByte(now, request);
            core.ended(now, request, Outcome.COMPLETED, new Usage(16, 20, -1));
            served += model ? 1 : 0;
          });
    }

    @Override
    public void pass(long request) {}

    @Override
    public void reject(long request, Rejection rejection) {}
  }

  @Test
  void manyNamesHaveNoLargerShareThanOne() {
    double besideOne = new Crowd().servedBeside(1);
    double besideMany = new Crowd().servedBeside(250);
    System.out.printf("served beside 1 name %.1f/s, beside 250 %.1f/s%n", besideOne, besideMany);
    assertThat(besideOne).isGreaterThan(9);
    assertThat(besideMany).isGreaterThan(0.9 * besideOne);
  }

  @Test
  void whatServersTellOfHasAFlowOfItsOwn() {
    pool.core.configure(0, Pool.withRoom(1, Pool.model("listed", Criticality.STANDARD)));
    pool.endpoints("a");
    pool.core.scraped(
        0,
        Pool.endpoint("a"),
        0,
        new EndpointMetrics(
            0, 0, 0.1, 16, 40_000, "base", 4, List.of("adapter"), List.of(), Map.of()));
    long there = pool.arrive("listed");
    for (int i = 0; i < 20; i++) {
      pool.arrive("made up " + i);
    }
    List<String> known = List.of("listed", "base", "adapter");
    known.forEach(pool::arrive);
    for (int i = 0; i < 4; i++) {
      pool.core.ended(pool.now += MILLI, there, Outcome.COMPLETED, new Usage(0, 1, -1));
      there = Long.parseLong(pool.effects.getLast().split(" ", 2)[0]);
    }
    assertThat(pool.routes.subList(1, 5)).extracting(Route::targetModel).containsAll(known);
  }
}
