package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AdapterSlotsTest {

  private final AdapterSlots slots = new AdapterSlots();

  private void scrape(int most, String... running) {
    slots.scraped(
        new EndpointMetrics(0, 0, 0, 16, 100, "base", most, List.of(running), List.of(), Map.of()));
  }

  @Test
  void theLeastRecentlyUsedGoes() {
    scrape(2);
    for (String adapter : List.of("a", "b", "a", "c")) {
      slots.used(adapter);
      slots.ended(adapter);
    }
    assertThat(slots.resident("a")).isTrue();
    assertThat(slots.resident("b")).isFalse();
    assertThat(slots.resident("c")).isTrue();
    assertThat(slots.loaded()).isEqualTo(2);
  }

  @Test
  void anotherProcessHasLoadedNothing() {
    scrape(2);
    slots.used("a");
    slots.ended("a");
    slots.used("b");
    slots.unloaded();
    assertThat(slots.resident("a")).isFalse();
    slots.ended("b");
    assertThat(slots.leastInFlight()).isZero();
  }

  @Test
  void oneWithRequestsInFlightKeepsItsSlot() {
    scrape(2);
    slots.used("a");
    slots.used("b");
    slots.ended("b");
    slots.used("c");
    assertThat(slots.resident("a")).isTrue();
    assertThat(slots.resident("b")).isFalse();

    slots.used("d");
    assertThat(slots.resident("a")).as("c and d can't take it").isTrue();
    assertThat(slots.loaded()).isEqualTo(2);

    slots.ended("a");
    assertThat(slots.resident("a")).as("now d can").isFalse();
  }

  @Test
  void countsTheFewestInFlight() {
    scrape(2);
    slots.used("a");
    assertThat(slots.leastInFlight()).as("a slot is free").isZero();
    slots.used("b");
    slots.used("b");
    slots.used("a");
    slots.used("a");
    assertThat(slots.leastInFlight()).isEqualTo(2);
    slots.ended("b");
    slots.ended("b");
    slots.ended("b");
    assertThat(slots.leastInFlight()).isZero();
  }

  @Test
  void whatTheServerShowsTakesNoSlotOfOneInFlight() {
    scrape(2);
    slots.used("a");
    slots.used("b");
    scrape(2, "x", "b");
    assertThat(slots.resident("a")).isTrue();
    assertThat(slots.resident("b")).isTrue();
    assertThat(slots.resident("x")).isFalse();
  }

  @Test
  void withoutSlotsNothingIsKept() {
    slots.used("a");
    slots.ended("a");
    assertThat(slots.loaded()).isZero();
    assertThat(slots.leastInFlight()).isZero();
  }
}
