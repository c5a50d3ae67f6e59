package io.fairlead.core;

import static io.fairlead.core.Pool.model;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** More adapters than servers have slots: who has none waits here, and holds up nobody. */
class AdapterTurnsTest {

  private static final long MILLI = 1_000_000;

  private final Pool pool = new Pool();

  /** Requests that have the slots of a server for long. */
  private final List<Long> atOne = new ArrayList<>();

  private final List<Long> atTwo = new ArrayList<>();

  @BeforeEach
  void twoServersWithTwoSlotsEach() {
    pool.configure(
        model("a", Criticality.STANDARD),
        model("b", Criticality.STANDARD),
        model("split", Criticality.STANDARD, new TargetModel("c", 1), new TargetModel("a", 1)));
    pool.endpoints("one", "two");
    scraped(0, List.of("a", "b", "c", "d", "e"), List.of());
    scraped(0, List.of(), List.of());
  }

  private void scraped(int waiting, List<String> running, List<String> queued) {
    for (String name : List.of("one", "two")) {
      pool.core.scraped(
          pool.now,
          Pool.endpoint(name),
          pool.now,
          new EndpointMetrics(waiting, 4, 0.1, 16, 10_000, "base", 2, running, queued, Map.of()));
    }
  }

  private void fillSlots() {
    for (String adapter : List.of("a", "b", "d", "e")) {
      pool.arrive(adapter);
    }
    assertThat(pool.routes).hasSize(4);
  }

  @Test
  void whoseAdapterHasNoSlotWaitsUntilAnotherFallsIdle() {
    List<Long> sent =
        List.of(pool.arrive("a"), pool.arrive("b"), pool.arrive("d"), pool.arrive("e"));
    pool.arrive("c");
    assertThat(pool.routes).hasSize(4);
    assertThat(pool.rejections).isEmpty();

    pool.core.ended(pool.now += MILLI, sent.get(1), Outcome.COMPLETED, Usage.UNKNOWN);

    assertThat(pool.routes).hasSize(5);
    assertThat(pool.lastRoute().targetModel()).isEqualTo("c");
    assertThat(pool.lastRoute().endpoint()).isEqualTo(pool.routes.get(1).endpoint());
  }

  @Test
  void theOthersGoOnMeanwhile() {
    fillSlots();
    pool.arrive("c");
    assertThat(pool.routes).hasSize(4);
    for (String other : List.of("a", "base", "d", "b", "never heard of")) {
      pool.arrive(other);
      assertThat(pool.lastRoute().targetModel()).isEqualTo(other);
    }
    assertThat(pool.rejections).isEmpty();
  }

  /** What another picker has sent there waits in the server's queue. */
  @Test
  void aQueueOfThoseWhoWaitForTheirAdapterTurnsNobodyAway() {
    scraped(9, List.of("a", "b"), List.of("c"));
    pool.arrive("a");
    pool.arrive("base");
    assertThat(pool.routes).hasSize(2);
  }

  /** Of one model's targets one has a slot and one has not. */
  @Test
  void oneTargetThatWaitsDoesNotHoldUpTheModelsOther() {
    fillSlots();
    int sent = 0;
    for (long seed = 0; seed < 20; seed++) {
      pool.core.arrive(pool.now, Pool.request("split", seed, 1, 2), pool);
      sent = pool.routes.size() - 4;
    }
    assertThat(sent).isBetween(5, 15);
    assertThat(pool.routes.subList(4, 4 + sent)).allMatch(route -> route.targetModel().equals("a"));
  }

  @Test
  void whereNobodyIsToWaitTheServerHasThemWait() {
    pool.configure(Pool.atOnce(List.of(), List.of()), model("a", Criticality.STANDARD));
    fillSlots();
    pool.arrive("c");
    assertThat(pool.lastRoute().targetModel()).isEqualTo("c");
  }

  /** Those for a are there all the time: one ends whenever the next has come. */
  @Test
  void anAdapterThatIsAlwaysInUseGivesItsSlotUpInTheEnd() {
    List<String> others = List.of("a", "b", "d", "e");
    List<Long> sent = new ArrayList<>();
    others.forEach(adapter -> sent.add(answered(adapter)));
    long waits = pool.arrive("c");
    for (int i = 0; i < 39; i++) {
      pool.core.tick(pool.now += 100 * MILLI);
      for (int each = 0; each < 4; each++) {
        long next = answered(others.get(each));
        pool.core.ended(pool.now, sent.set(each, next), Outcome.COMPLETED, Usage.UNKNOWN);
      }
    }
    int before = pool.routes.size();
    assertThat(pool.routes).noneMatch(route -> route.targetModel().equals("c"));

    pool.core.tick(pool.now += 100 * MILLI);
    others.forEach(pool::arrive);
    assertThat(pool.routes.subList(before, pool.routes.size()))
        .as("one of them gets no more until c had its turn")
        .hasSize(3);
    pool.core.ended(pool.now, waits, Outcome.DISCONNECTED, Usage.UNKNOWN);
    assertThat(pool.routes).as("nobody wants it any more").hasSize(before + 4);
    assertThat(pool.rejections).isEmpty();
  }

  private long answered(String adapter) {
    long request = pool.arrive(adapter);
    pool.core.firstByte(pool.now, request);
    return request;
  }

  /** A tenant's requests for adapters are in its flow, too. */
  @Test
  void whoeverIsBehindOneWithoutASlotInItsFlowGoesPastIt() {
    fillSlots();
    pool.core.arrive(pool.now, ofTenant("c"), pool);
    pool.core.arrive(pool.now, ofTenant("base"), pool);
    assertThat(pool.lastRoute().targetModel()).isEqualTo("base");
  }

  @Test
  void soItDoesWhereTheServerThatHasTheSlotIsFull() {
    fillSlots();
    String ofOne = onlyAt("one");
    pool.core.scraped(
        pool.now,
        Pool.endpoint("one"),
        pool.now,
        new EndpointMetrics(
            0, 4, 0.99, 16, 10_000, "base", 2, List.of(ofOne), List.of(), Map.of()));
    pool.core.arrive(pool.now, ofTenant(ofOne), pool);
    assertThat(pool.routes).hasSize(4);
    pool.core.arrive(pool.now, ofTenant("base"), pool);
    assertThat(pool.lastRoute().targetModel()).isEqualTo("base");
    assertThat(pool.lastRoute().endpoint()).isEqualTo("two");
  }

  private String onlyAt(String endpoint) {
    return pool.routes.stream()
        .filter(route -> route.endpoint().equals(endpoint))
        .findFirst()
        .orElseThrow()
        .targetModel();
  }

  private static RequestFacts ofTenant(String model) {
    return new RequestFacts(
        "",
        model,
        1,
        new long[0],
        new PromptSize(64, 0),
        -1,
        256,
        RequestFacts.Delivery.STREAMED,
        Timeouts.UNSET,
        name -> name.equals(FlowHeaders.FAIRNESS.getFirst()) ? "tenant" : null,
        null);
  }

  /** Each of several pickers sees late what the others leave free. */
  @Test
  void pickersThatShareAPoolHaveServersPassThemOnWhereThereIsASlotForEachAdapter() {
    pool.core.replicas(2);
    fillSlots();
    pool.arrive("c");
    assertThat(pool.routes).as("five adapters, four slots").hasSize(4);

    pool.endpoints("one", "two", "three");
    pool.core.scraped(
        pool.now,
        Pool.endpoint("three"),
        pool.now,
        new EndpointMetrics(
            0, 4, 0.1, 16, 10_000, "base", 2, List.of("a", "b"), List.of(), Map.of()));
    pool.core.scraped(
        pool.now += 1_000 * MILLI,
        Pool.endpoint("three"),
        pool.now,
        new EndpointMetrics(
            0, 4, 0.1, 16, 10_000, "base", 2, List.of("a", "b"), List.of(), Map.of()));
    pool.core.tick(pool.now);
    assertThat(pool.lastRoute().targetModel()).isEqualTo("c");
    assertThat(pool.rejections).isEmpty();
  }

  /** Servers say something all the time, so that none is taken for dead. */
  private void pass(long millis) {
    for (long until = pool.now + millis * MILLI; pool.now - until < 0; ) {
      atOne.forEach(request -> pool.core.progress(pool.now, request));
      atTwo.forEach(request -> pool.core.progress(pool.now, request));
      pool.core.tick(pool.now += 100 * MILLI);
    }
  }

  private void fillSlotsForLong() {
    for (String adapter : List.of("a", "b", "d", "e")) {
      long request = answered(adapter);
      (pool.lastRoute().endpoint().equals("one") ? atOne : atTwo).add(request);
    }
  }

  /** It may come back, and whoever it had promised a slot may have had one elsewhere. */
  @Test
  void whatAnEndpointHasPromisedIsForgottenOnceItLeaves() {
    fillSlotsForLong();
    pool.arrive("c");
    pass(4_500);
    pool.endpoints("two");
    pass(500);
    pool.endpoints("one", "two");
    pool.core.ended(pool.now, atTwo.removeFirst(), Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(pool.lastRoute().targetModel()).isEqualTo("c");
    assertThat(pool.lastRoute().endpoint()).isEqualTo("two");
    pass(500);
    scraped(0, List.of(), List.of());

    pool.core.ended(pool.now, atOne.removeFirst(), Outcome.COMPLETED, Usage.UNKNOWN);
    String gaveWay = onlyAt("two");
    pool.arrive(gaveWay);
    assertThat(pool.lastRoute().targetModel()).isEqualTo(gaveWay);
    assertThat(pool.lastRoute().endpoint()).isEqualTo("one");
  }

  /** Whoever counted on it would wait for as long as it is out. */
  @Test
  void whatAnEndpointHasPromisedAnotherDoesOnceItIsOut() {
    fillSlotsForLong();
    pool.arrive("c");
    pass(4_500);
    pool.core.unreachable(pool.now, Pool.endpoint("one"), pool.now, Failure.REFUSED);
    assertThat(pool.snapshot("one").health().state()).isEqualTo(HealthState.OUT);
    int before = pool.routes.size();
    List<String> adapters =
        pool.routes.stream()
            .filter(route -> route.endpoint().equals("two"))
            .map(Route::targetModel)
            .toList();
    for (int i = 0; i < 10; i++) {
      pass(100);
      for (int each = 0; each < 2; each++) {
        long next = answered(adapters.get(each));
        pool.core.ended(pool.now, atTwo.set(each, next), Outcome.COMPLETED, Usage.UNKNOWN);
      }
    }
    assertThat(pool.routes.subList(before, pool.routes.size()))
        .extracting(Route::targetModel)
        .contains("c");
  }

  /** There is room for all of them: what others leave is no slot. */
  @Test
  void whoWaitsForASlotEndsNobodyInFlight() {
    pool.core.configure(
        pool.now,
        new ConfigCompiler(List.of())
            .compile(
                Pool.config(
                    new SchedulerConfig(
                        List.of(),
                        List.of(),
                        null,
                        Map.of(),
                        new FlowControlConfig(
                            null, null, null, null, true, null, null, null, null, List.of()),
                        null,
                        List.of()),
                    model("low", Criticality.SHEDDABLE, new TargetModel("base", 1)))));
    fillSlots();
    pool.arrive("low");
    assertThat(pool.routes).hasSize(5);
    pool.arrive("c");
    pool.core.tick(pool.now += MILLI);
    pool.arrive("c");
    assertThat(pool.core.waiting()).isEqualTo(2);
    assertThat(pool.effects).noneMatch(effect -> effect.contains("asked to end"));
    pool.arrive("base");
    assertThat(pool.lastRoute().targetModel()).isEqualTo("base");
  }

  /** Who may fill servers less than others can't take a slot that others need. */
  @Test
  void aSlotIsKeptForNobodyWhoFindsNoRoomForItself() {
    pool.core.configure(
        pool.now,
        Pool.withRoom(
            10,
            model("a", Criticality.CRITICAL),
            model("b", Criticality.CRITICAL),
            model("c", Criticality.STANDARD)));
    pool.endpoints("one");
    List.of("a", "a", "a", "b").forEach(adapter -> atOne.add(answered(adapter)));
    pool.arrive("c");
    pass(4_500);
    for (int i = 0; i < 5; i++) {
      atOne.add(answered("a"));
    }
    pool.core.ended(pool.now, atOne.remove(3), Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(pool.routes).as("a standard request fills eight of ten places").hasSize(9);
    pool.arrive("b");
    pass(200);
    assertThat(pool.routes).hasSize(10);
    assertThat(pool.lastRoute().targetModel()).isEqualTo("b");
  }

  /** A slot is of no use where the prompt has no room in the cache. */
  @Test
  void noSlotIsPromisedWhereThePromptDoesNotFit() {
    fillSlotsForLong();
    List<String> atLarge =
        pool.routes.stream()
            .filter(route -> route.endpoint().equals("two"))
            .map(Route::targetModel)
            .toList();
    oneIsSmallAndFull();
    pool.core.arrive(pool.now, new RequestFacts("c", 1, new long[0], 2_000, -1, 8_000), pool);
    for (int i = 0; i < 60; i++) {
      pass(100);
      oneIsSmallAndFull();
      for (int each = 0; each < 2; each++) {
        long next = answered(atLarge.get(each));
        pool.core.ended(pool.now, atTwo.set(each, next), Outcome.COMPLETED, Usage.UNKNOWN);
      }
    }
    assertThat(pool.routes).extracting(Route::targetModel).contains("c");
  }

  private void oneIsSmallAndFull() {
    pool.core.scraped(
        pool.now,
        Pool.endpoint("one"),
        pool.now,
        new EndpointMetrics(0, 4, 0.99, 16, 60, "base", 2, List.of(), List.of(), Map.of()));
  }
}
