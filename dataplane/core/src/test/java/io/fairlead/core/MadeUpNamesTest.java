package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
}
