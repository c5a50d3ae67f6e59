package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A million random events against {@link TruthModel}; a failure names its seed. */
@TestInstance(Lifecycle.PER_CLASS)
class PoolCorePropertyTest {

  private static final int EVENTS = 125_000;
  private static final int QUIESCE_EVERY = 250;
  private final Map<Long, Integer> eventsBySeed = new TreeMap<>();
  private final Map<String, Integer> counts = new TreeMap<>();

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 42, 43, 100, 101, 1_789, 20_261_121})
  void accountsEqualTheTruth(long seed) {
    RandomEvents run = new RandomEvents(seed);
    for (int i = 1; i <= EVENTS; i++) {
      run.step();
      if (i % QUIESCE_EVERY == 0) {
        run.compare();
      }
    }
    run.drain();
    TruthModel truth = run.truth;
    run.counts.put("prefill elsewhere", (int) truth.pairs);
    run.counts.put("observer told", (int) truth.told);
    assertThat(run.counts)
        .as("each kind of event was there")
        .containsKeys("restart", "stream of 15 minutes", "plugin broke", "given up");
    assertThat(run.counts.get("through before its client")).isPositive();
    assertThat(run.counts.containsKey("retry")).isEqualTo(truth.retries > 0);
    assertThat(truth.sends).isGreaterThan(EVENTS / 10);
    assertThat(truth.pairs).isGreaterThan(EVENTS / 100);
    eventsBySeed.put(seed, EVENTS);
    run.counts.forEach((kind, count) -> counts.merge(kind, count, Integer::sum));
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {7, 8})
  void sameEventsSameEffects(long seed) {
    RandomEvents one = new RandomEvents(seed);
    RandomEvents other = new RandomEvents(seed);
    one.truth.logging = true;
    other.truth.logging = true;
    for (int i = 0; i < 10_000; i++) {
      one.step();
    }
    for (int i = 0; i < 10_000; i++) {
      other.step();
    }
    assertThat(one.truth.effects).hasSizeGreaterThan(1_000).isEqualTo(other.truth.effects);
    assertThat(one.core.snapshot()).isEqualTo(other.core.snapshot());
  }

  @AfterAll
  void sayWhatWasDone() {
    System.out.printf(
        "pool events: %,d over seeds %s: %s%n",
        eventsBySeed.values().stream().mapToInt(Integer::intValue).sum(),
        eventsBySeed.keySet(),
        counts.entrySet().stream()
            .map(e -> e.getKey() + " " + e.getValue())
            .collect(Collectors.joining(", ")));
  }
}
