package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AdapterSlotsTest {

  private static final long SECOND = 1_000_000_000;

  private final PoolAdapters pool = new PoolAdapters();
  private final AdapterSlots slots = new AdapterSlots(pool);

  private void scrape(int most, String... running) {
    scrape(0, 0, 0, most, running);
  }

  /** What a server said then that runs so many requests, of which we know of some. */
  private void scrape(long begunAt, int requests, int ours, int most, String... running) {
    slots.scraped(
        begunAt,
        ours,
        new EndpointMetrics(
            0, requests, 0, 16, 100, "base", most, List.of(running), List.of(), Map.of()));
  }

  /** A request of ours that is being answered. */
  private void serving(String adapter) {
    slots.used(0, adapter);
    slots.served(adapter);
  }

  @Test
  void theLeastRecentlyUsedGoes() {
    scrape(2);
    for (String adapter : List.of("a", "b", "a", "c")) {
      serving(adapter);
      slots.ended(0, adapter);
    }
    assertThat(slots.resident("a")).isTrue();
    assertThat(slots.resident("b")).isFalse();
    assertThat(slots.resident("c")).isTrue();
    assertThat(slots.loaded()).isEqualTo(2);
  }

  /** Whether it needs a slot was not known before its server told of itself. */
  @Test
  void whatWasSentBeforeTheFirstPageTakesNoOthersSlot() {
    EndpointState endpoint = new EndpointState(Pool.endpoint("a"), 0, new PrefillPace(), pool, 0);
    Flight before = sent(endpoint);
    endpoint.scraped(
        0,
        0,
        new EndpointMetrics(0, 1, 0, 16, 100, "base", 1, List.of("lora"), List.of(), Map.of()));
    Flight after = sent(endpoint);
    assertThat(endpoint.adapters().leastInFlight()).isEqualTo(1);
    endpoint.ended(0, before, false);
    assertThat(endpoint.adapters().leastInFlight()).as("one is there").isEqualTo(1);
    endpoint.ended(0, after, false);
    assertThat(endpoint.adapters().leastInFlight()).isZero();
  }

  private static Flight sent(EndpointState to) {
    Flight flight = new Flight(0, 1);
    flight.start(0, Pool.request("m", 1), new Pool());
    flight.attempt.target = "lora";
    flight.attempt.at = to;
    to.sent(0, flight, 0);
    return flight;
  }

  /** Clients may ask for what nobody serves. */
  @Test
  void whatNoServerHasShownOrAnsweredForDrivesOutNothing() {
    scrape(2);
    serving("a");
    slots.ended(0, "a");
    serving("b");
    slots.ended(0, "b");
    slots.used(0, "made up");
    assertThat(slots.resident("a")).isTrue();
    assertThat(slots.resident("b")).isTrue();
    assertThat(slots.resident("made up")).as("if it is real, it is on its way").isTrue();
    slots.ended(0, "made up");
    assertThat(slots.resident("made up")).isFalse();

    slots.used(0, "shown elsewhere");
    pool.add(0, List.of("shown elsewhere"));
    scrape(2);
    assertThat(slots.resident("a")).isFalse();
    slots.ended(0, "shown elsewhere");
    assertThat(slots.resident("shown elsewhere")).isTrue();
    slots.used(0, "a");
    assertThat(slots.served("a")).isTrue();
    assertThat(slots.served("a")).isFalse();
    assertThat(slots.resident("b")).isFalse();
  }

  @Test
  void anotherProcessHasLoadedNothing() {
    scrape(2);
    serving("a");
    slots.ended(0, "a");
    serving("b");
    slots.unloaded();
    assertThat(slots.resident("a")).isFalse();
    slots.ended(0, "b");
    assertThat(slots.leastInFlight()).isZero();
  }

  @Test
  void anotherProcessHasNoSlotsUntilItSaysSo() {
    scrape(0, 1, 1, 1, "a");
    slots.used(0, "a");
    slots.promise("b");
    slots.unloaded();
    assertThat(slots.slots()).isZero();
    assertThat(slots.needed("b")).isFalse();
    assertThat(slots.taken()).isFalse();
    scrape(1);
    assertThat(slots.slots()).isEqualTo(1);
    assertThat(slots.needed("b")).isTrue();
  }

  @Test
  void whatNobodyHasShownForLongIsKnownNoMore() {
    scrape(0, 2, 0, 4, "a", "b");
    scrape(400 * SECOND, 2, 0, 4, "b");
    assertThat(pool.count()).isEqualTo(2);
    long before = pool.changes();
    scrape(700 * SECOND, 2, 0, 4, "b");
    assertThat(pool.knows("a")).isFalse();
    assertThat(pool.knows("b")).isTrue();
    assertThat(pool.changes()).as("whoever lacked a slot may not any more").isGreaterThan(before);
  }

  @Test
  void ofTooManyNamesTheNewestAreKnown() {
    for (int i = 0; i < 20_000; i++) {
      pool.add(i, List.of("a" + i));
    }
    assertThat(pool.count()).isEqualTo(10_000);
    assertThat(pool.knows("a19999")).isTrue();
    assertThat(pool.knows("a0")).isFalse();
  }

  @Test
  void oneWithRequestsInFlightKeepsItsSlot() {
    scrape(2);
    serving("a");
    serving("b");
    slots.ended(0, "b");
    serving("c");
    assertThat(slots.resident("a")).isTrue();
    assertThat(slots.resident("b")).isFalse();

    serving("d");
    assertThat(slots.resident("a")).as("c and d can't take it").isTrue();
    assertThat(slots.loaded()).isEqualTo(2);

    slots.ended(0, "a");
    assertThat(slots.resident("a")).as("now d can").isFalse();
  }

  @Test
  void countsTheFewestInFlight() {
    scrape(2);
    serving("a");
    assertThat(slots.leastInFlight()).as("a slot is free").isZero();
    serving("b");
    serving("b");
    serving("a");
    serving("a");
    assertThat(slots.leastInFlight()).isEqualTo(2);
    slots.ended(0, "b");
    slots.ended(0, "b");
    slots.ended(0, "b");
    assertThat(slots.leastInFlight()).isZero();
  }

  @Test
  void whatTheServerShowsTakesNoSlotOfOneInFlight() {
    scrape(2);
    serving("a");
    serving("b");
    scrape(2, "x", "b");
    assertThat(slots.resident("a")).isTrue();
    assertThat(slots.resident("b")).isTrue();
    assertThat(slots.resident("x")).isFalse();
  }

  @Test
  void aFurtherAdapterLacksASlotWhileAllAreInUse() {
    scrape(2, "a", "b", "c");
    slots.used(0, "a");
    assertThat(slots.lacks("c")).as("b is idle").isFalse();
    slots.used(0, "b");
    assertThat(slots.lacks("c")).isTrue();
    assertThat(slots.lacks("b")).as("it has one").isFalse();
    assertThat(slots.lacks("base")).as("it needs none").isFalse();
    slots.ended(0, "a");
    assertThat(slots.lacks("c")).isFalse();
  }

  /** Servers may have more names for their base model than the one that their metrics show. */
  @Test
  void aNameThatNoServerCallsAnAdapterNeitherLacksASlotNorTakesOne() {
    scrape(2, "a", "b");
    slots.used(0, "a");
    slots.used(0, "b");
    assertThat(slots.lacks("alias")).isFalse();
    slots.ended(0, "b");
    slots.used(0, "alias");
    slots.used(0, "other alias");
    scrape(2, "c");
    assertThat(slots.lacks("c")).isFalse();
  }

  @Test
  void withoutSlotsNothingIsKept() {
    slots.used(0, "a");
    slots.ended(0, "a");
    assertThat(slots.loaded()).isZero();
    assertThat(slots.leastInFlight()).isZero();
  }

  /** The names that its server has told of hold back others, and so do those alone. */
  @Test
  void aPromiseKeepsTheNextSlotForOneAndSendsNothingToAnother() {
    scrape(2, "a", "b", "c", "d");
    slots.used(0, "a");
    slots.used(0, "a");
    slots.used(0, "b");
    assertThat(slots.untilASlot(SECOND - 1)).as("b's turn").isEqualTo(Integer.MAX_VALUE);
    assertThat(slots.untilASlot(SECOND)).isOne();

    AdapterSlots.Promise promise = slots.promise("c");
    assertThat(slots.lacks("b")).isTrue();
    assertThat(slots.lacks("a")).isFalse();
    assertThat(slots.lacks("c")).isTrue();
    assertThat(slots.lacks("d")).isTrue();
    assertThat(slots.untilASlot(SECOND)).as("one at a time").isEqualTo(Integer.MAX_VALUE);

    slots.ended(0, "b");
    assertThat(slots.lacks("c")).isFalse();
    assertThat(slots.lacks("d")).isTrue();
    assertThat(slots.isPromised(promise)).isTrue();
    slots.used(SECOND, "c");
    assertThat(slots.isPromised(promise)).isFalse();
    assertThat(slots.lacks("b")).isTrue();
    slots.ended(0, "c");
    assertThat(slots.lacks("b")).isFalse();
  }

  @Test
  void aPromiseIsTakenBackOnce() {
    scrape(1, "a", "b", "c");
    slots.used(0, "a");
    AdapterSlots.Promise first = slots.promise("b");
    slots.takeBack(first);
    assertThat(slots.lacks("a")).isFalse();
    AdapterSlots.Promise second = slots.promise("c");
    slots.takeBack(first);
    assertThat(slots.isPromised(second)).isTrue();
    assertThat(slots.lacks("a")).isTrue();
  }

  @Test
  void whatOthersUseIsTakenToo() {
    scrape(SECOND, 2, 0, 2, "a", "b");
    assertThat(slots.lacks("a")).isFalse();
    scrape(2, "c");
    scrape(SECOND, 2, 0, 2, "a", "b");
    assertThat(slots.lacks("c")).isTrue();
    assertThat(slots.resident("a")).isTrue();

    slots.used(SECOND, "a");
    scrape(2 * SECOND, 1, 1, 2, "a");
    assertThat(slots.lacks("c")).as("b is over").isFalse();
    slots.unknown();
    assertThat(slots.taken()).isFalse();
  }

  /** A scrape may be late, and a server that is idle may say for ever what its last step left. */
  @Test
  void whatIsOverIsNoUseOfOthers() {
    scrape(0, 0, 0, 1, "a", "b");
    slots.used(0, "a");
    slots.ended(SECOND, "a");
    scrape(SECOND - 1, 3, 0, 1, "a");
    assertThat(slots.lacks("b")).isFalse();
    slots.used(SECOND, "b");
    slots.ended(SECOND, "b");
    scrape(SECOND - 1, 3, 0, 1, "a");
    assertThat(slots.lacks("b")).as("a gave way before that").isFalse();
    scrape(9 * SECOND, 0, 0, 1, "a");
    assertThat(slots.lacks("b")).as("nothing runs").isFalse();
    scrape(9 * SECOND, 1, 0, 1, "a");
    assertThat(slots.lacks("b")).isTrue();
  }
}
