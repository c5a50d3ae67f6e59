package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that wait for room, with endpoints that have room for one request each. */
class AdmissionTest implements RequestListener {

  private static final long SECOND = 1_000_000_000;
  private static final ModelConfig[] MODELS = {
    Pool.model("high", Criticality.CRITICAL),
    Pool.model("middle", Criticality.STANDARD),
    Pool.model("other", Criticality.STANDARD),
    Pool.model("low", Criticality.SHEDDABLE)
  };

  private PoolCore core = new PoolCore();
  private final List<Long> waiting = new ArrayList<>();
  private final List<Long> sent = new ArrayList<>();
  private final List<String> endpoints = new ArrayList<>();
  private final List<Rejection> rejections = new ArrayList<>();
  private final List<Long> askedToEnd = new ArrayList<>();
  private long now;

  @Override
  public void waits(long request, Criticality criticality) {
    waiting.add(request);
  }

  @Override
  public void send(long request, Route route) {
    sent.add(request);
    endpoints.add(route.endpoint());
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    rejections.add(rejection);
  }

  @Override
  public void evict(long request, Rejection rejection) {
    assertThat(rejection.reason()).isEqualTo(Reason.EVICTED_IN_FLIGHT);
    assertThat(rejection.retryAfterSeconds()).isBetween(1, 60);
    askedToEnd.add(request);
  }

  private void configure(boolean gate, @Nullable FlowControlConfig flow) {
    configure(Map.of("flowControl", gate), flow, "queue-scorer");
  }

  private void configure(
      Map<String, Boolean> gates, @Nullable FlowControlConfig flow, String scorer) {
    PoolConfig config =
        Pool.config(
            new SchedulerConfig(
                List.of(
                    new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L)),
                    new PluginConfig("best", scorer, Map.of())),
                List.of(),
                "room",
                gates,
                flow,
                null,
                List.of()),
            MODELS);
    core.configure(now, new ConfigCompiler(List.of()).compile(config));
  }

  /** One endpoint that has room for so many requests. */
  private void startWithRoom(long requests) {
    core.configure(now, Pool.withRoom(requests, MODELS));
    core.endpoints(now, List.of(Pool.endpoint("a")));
  }

  private static FlowControlConfig limits(
      @Nullable Long requests, @Nullable Duration ttl, @Nullable Duration emptyTtl) {
    return new FlowControlConfig(
        null, requests, ttl, emptyTtl, null, null, null, null, null, List.of());
  }

  private void start(String... names) {
    configure(true, null);
    core.endpoints(now, List.of(names).stream().map(Pool::endpoint).toList());
  }

  private long arrive(String model) {
    return core.arrive(now, Pool.request(model, ++now, 1, 2, 3), this);
  }

  private void end(long request) {
    core.ended(++now, request, Outcome.COMPLETED, new Usage(48, 10, 0));
  }

  /** How much too full one is takes no room at another. */
  @Test
  void anIdleEndpointIsNotFullForAnotherThatIsOverfull() {
    FlowControlConfig flow =
        new FlowControlConfig(null, null, null, null, null, null, "soft", null, null, List.of());
    PoolConfig config =
        Pool.config(
            new SchedulerConfig(
                List.of(
                    new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L)),
                    new PluginConfig("soft", "soft-reflective-ceiling-policy", Map.of()),
                    new PluginConfig("best", "queue-scorer", Map.of())),
                List.of(),
                "room",
                Map.of("flowControl", false),
                flow,
                null,
                List.of()),
            MODELS);
    core.configure(now, new ConfigCompiler(List.of()).compile(config));
    core.endpoints(now, List.of(Pool.endpoint("a")));
    for (int i = 0; i < 4; i++) {
      arrive("middle");
    }
    SchedulerConfig waits = config.scheduler();
    core.configure(
        now,
        new ConfigCompiler(List.of())
            .compile(
                Pool.config(
                    new SchedulerConfig(
                        waits.plugins(), List.of(), "room", Map.of(), flow, null, List.of()),
                    MODELS)));
    core.endpoints(now, List.of(Pool.endpoint("a"), Pool.endpoint("b")));
    end(arrive("middle")); // of whom room is held back from those below
    assertThat(endpoints.getLast()).isEqualTo("b");
    long least = arrive("low");
    assertThat(sent.getLast()).isEqualTo(least);
    assertThat(endpoints.getLast()).isEqualTo("b");
  }

  @Test
  void whoAsksForSeveralAnswersIsExpectedToGetAsMany() {
    start("a");
    arrive("middle");
    assertThat(waitingTokens(8, 100) - waitingTokens(1, 100)).isEqualTo(700);
    assertThat(waitingTokens(8, -1) - waitingTokens(1, -1)).isEqualTo(7 * 200);
  }

  @Test
  void howLongAnAnswerIsIsLearnedOfEachOfSeveral() {
    start("a");
    long several = arrive("middle", 4, -1);
    double before = waitingTokens(1, -1);
    core.ended(++now, several, Outcome.COMPLETED, new Usage(48, 4 * 100, 0));
    arrive("middle");
    assertThat(waitingTokens(1, -1)).isLessThan(before);
  }

  private long arrive(String model, int answers, int maxOutputTokens) {
    return core.arrive(
        now,
        RequestFactsBuilder.of(model, ++now, 1, 2, 3)
            .answers(answers)
            .maxOutputTokens(maxOutputTokens)
            .build(),
        this);
  }

  /** What one more that waits is expected to be. */
  private double waitingTokens(int answers, int maxOutputTokens) {
    double before = waitingTokens();
    long request = arrive("middle", answers, maxOutputTokens);
    assertThat(waiting.getLast()).isEqualTo(request);
    double tokens = waitingTokens() - before;
    core.ended(++now, request, Outcome.DISCONNECTED, Usage.UNKNOWN);
    return tokens;
  }

  private double waitingTokens() {
    return core.queues(now).bands().stream().mapToDouble(QueueSnapshot.Band::tokens).sum();
  }

  @Test
  void goesAtOnceWhereThereIsRoomAndElseWaitsAndIsPlacedWhenItGoes() {
    start("a", "b");
    long first = arrive("middle");
    long second = arrive("middle");
    long third = arrive("middle");
    assertThat(sent).containsExactly(first, second);
    assertThat(waiting).containsExactly(third);
    assertThat(core.waiting()).isOne();
    String freed = endpoints.get(1);
    end(second);
    assertThat(sent).containsExactly(first, second, third);
    assertThat(endpoints.getLast()).isEqualTo(freed);
    end(first);
    end(third);
    assertThat(core.active()).isZero();
    assertThat(core.waiting()).isZero();
  }

  @Test
  void requestsWaitUnlessTheConfigWantsNoneTo() {
    configure(Map.of(), null, "queue-scorer");
    core.endpoints(now, List.of(Pool.endpoint("a")));
    arrive("middle");
    long patient = arrive("low");
    assertThat(waiting).containsExactly(patient);
    configure(Map.of("flowControl", false), null, "queue-scorer");
    assertThat(core.waiting()).isZero();
    arrive("low");
    assertThat(rejections).extracting(Rejection::reason).contains(Reason.SATURATED);
  }

  @Test
  void aLimitHoldsWhateverTheSchedulerWouldRather() {
    configure(Map.of(), null, "prefix-cache-scorer");
    core.endpoints(now, List.of(Pool.endpoint("a"), Pool.endpoint("b")));
    arrive("middle");
    arrive("middle");
    assertThat(endpoints).as("the prompt is cached on one").doesNotHaveDuplicates().hasSize(2);
  }

  @Test
  void aFullEndpointMayBeWorthItsWaitWhileAnotherHasRoom() {
    core.configure(
        now,
        new ConfigCompiler(List.of())
            .compile(
                Pool.config(
                    new SchedulerConfig(
                        List.of(
                            new PluginConfig(
                                "room", "utilization-detector", Map.of("queueDepthThreshold", 1L)),
                            new PluginConfig("best", "prefix-cache-scorer", Map.of())),
                        List.of(),
                        "room"),
                    MODELS)));
    core.endpoints(now, List.of(Pool.endpoint("a"), Pool.endpoint("b")));
    for (int i = 0; i < 4; i++) {
      arrive("middle");
    }
    assertThat(endpoints)
        .as("all where the prompt is cached")
        .hasSize(4)
        .containsOnly(endpoints.getFirst());
  }

  /** One endpoint has room for ten, and there are three bands: the least ends at eight. */
  @Test
  void roomIsHeldBackForWhoIsMoreImportant() {
    startWithRoom(10);
    for (String model : List.of("high", "middle", "low")) {
      end(arrive(model));
    }
    sent.clear();
    for (int i = 0; i < 8; i++) {
      arrive("low");
    }
    assertThat(sent).hasSize(8);
    arrive("low");
    assertThat(waiting).hasSize(1);
    arrive("middle");
    assertThat(sent).hasSize(9);
    arrive("middle");
    assertThat(waiting).hasSize(2);
    arrive("high");
    assertThat(sent).hasSize(10);
    arrive("high");
    assertThat(waiting).hasSize(3);
  }

  /** A fifth of the room is for those who keep within their share, as long as there are any. */
  @Test
  void whoHasMoreThanItsShareLeavesRoomForWhoHasNot() {
    startWithRoom(10);
    for (int i = 0; i < 20; i++) {
      arrive("middle");
    }
    long modest = arrive("other");
    end(sent.get(0));
    assertThat(sent).hasSize(11);
    assertThat(sent.getLast()).isEqualTo(modest);
    end(sent.get(1));
    end(sent.get(2));
    assertThat(sent).as("8 of 10 are under way").hasSize(11);
    long next = arrive("other");
    assertThat(sent).as("there is room for it").hasSize(12);
    assertThat(sent.getLast()).isEqualTo(next);
    end(sent.get(3));
    end(sent.get(4));
    assertThat(sent).as("below 8 there is for the others, too").hasSize(13);
    end(modest);
    end(next);
    assertThat(sent).as("nobody else is there: all of it").hasSize(17);
    assertThat(core.active() - core.waiting()).isEqualTo(10);
  }

  /** The least important band has its floor where more important ones fill all that there is. */
  @Test
  void roomThatIsHeldBackKeepsNobodyFromItsFloorAndItsFloorNobodyFromRoom() {
    startWithRoom(10);
    for (int i = 0; i < 40; i++) {
      arrive("high");
    }
    Set<Long> low = new HashSet<>();
    for (int i = 0; i < 40; i++) {
      low.add(arrive("low"));
    }
    int atOnce = sent.size();
    assertThat(atOnce).isEqualTo(10);
    for (int ended = 0; ended < 3_000; ended++) {
      end(sent.get(ended));
      assertThat(sent.size() - ended - 1).as("all room is used").isEqualTo(10);
      arrive("high");
    }
    long served = sent.stream().filter(low::contains).count();
    // A floor is a share of work: the first of them is expected to be twenty of the others.
    assertThat(served).isBetween(2L, 39L);
  }

  @Test
  void whoIsMoreImportantGoesFirst() {
    start("a");
    long running = arrive("middle");
    long low = arrive("low");
    long middle = arrive("middle");
    long high = arrive("high");
    for (long next = running; sent.size() < 4; next = sent.getLast()) {
      end(next);
    }
    assertThat(sent).containsExactly(running, high, middle, low);
  }

  @Test
  void modelsTakeTurns() {
    start("a");
    long running = arrive("middle");
    List<Long> of = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      of.add(arrive("middle"));
    }
    long first = arrive("other");
    long second = arrive("other");
    for (long next = running; sent.size() < 9; next = sent.getLast()) {
      end(next);
    }
    assertThat(sent.indexOf(first)).isLessThanOrEqualTo(2);
    assertThat(sent.indexOf(second)).isLessThanOrEqualTo(4);
    assertThat(sent).filteredOn(of::contains).isEqualTo(of);
  }

  @Test
  void modelsGetTurnsByTheirWeight() {
    configure(
        new ModelConfig("middle", Criticality.STANDARD, List.of(), TimeoutsConfig.UNSET, weight(1)),
        new ModelConfig("other", Criticality.STANDARD, List.of(), TimeoutsConfig.UNSET, weight(3)));
    List<Long> others = new ArrayList<>();
    long running = arrive("middle");
    for (int i = 0; i < 40; i++) {
      arrive("middle");
      others.add(arrive("other"));
    }
    for (long next = running; sent.size() < 41; next = sent.getLast()) {
      end(next);
    }
    assertThat(sent).filteredOn(others::contains).hasSizeBetween(27, 33);
    // A changed weight is of those who wait already.
    configure(
        Pool.model("middle", Criticality.STANDARD), Pool.model("other", Criticality.STANDARD));
    int before = sent.size();
    for (long next = sent.getLast(); sent.size() < before + 12; next = sent.getLast()) {
      end(next);
    }
    assertThat(sent.subList(before, before + 12)).filteredOn(others::contains).hasSizeBetween(3, 9);
  }

  private static ModelQueueConfig weight(int weight) {
    return new ModelQueueConfig(weight, null);
  }

  /** One endpoint with room for one request at a time. */
  private void configure(ModelConfig... models) {
    core.configure(
        now,
        new ConfigCompiler(List.of())
            .compile(
                Pool.config(
                    new SchedulerConfig(
                        List.of(
                            new PluginConfig(
                                "room", "concurrency-detector", Map.of("maxConcurrency", 1L)),
                            new PluginConfig("queue", "queue-scorer", Map.of())),
                        List.of(),
                        "room"),
                    models)));
    core.endpoints(now, List.of(Pool.endpoint("a")));
  }

  @Test
  void aModelsRequestsWaitNoLongerThanItSays() {
    configure(
        new ModelConfig(
            "middle",
            Criticality.STANDARD,
            List.of(),
            TimeoutsConfig.UNSET,
            new ModelQueueConfig(1, Duration.ofSeconds(2))));
    arrive("middle");
    arrive("middle");
    core.tick(now += SECOND);
    assertThat(rejections).isEmpty();
    core.tick(now += SECOND);
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.QUEUE_TIMEOUT);
  }

  private void startOrderedByObjective(String late) {
    FlowControlConfig.Band band = new FlowControlConfig.Band(null, null, null, null, "objective");
    FlowControlConfig flow =
        new FlowControlConfig(null, null, null, null, null, null, null, band, null, List.of());
    PoolConfig config =
        Pool.config(
            new SchedulerConfig(
                List.of(
                    new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L)),
                    new PluginConfig(
                        "objective", "slo-deadline-ordering-policy", Map.of("late", late)),
                    new PluginConfig("best", "queue-scorer", Map.of())),
                List.of(),
                "room",
                Map.of(),
                flow,
                null,
                List.of()),
            MODELS);
    core.configure(now, new ConfigCompiler(List.of()).compile(config));
    core.endpoints(now, List.of(Pool.endpoint("a")));
  }

  private long arriveWithObjective(String model, String millis) {
    RequestFacts facts =
        RequestFactsBuilder.of(model, ++now, 1, 2, 3).header("x-slo-ttft-ms", millis).build();
    return core.arrive(now, facts, this);
  }

  @Test
  void whoIsLateByItsOwnObjectiveIsToldSoWhereTheConfigWantsThat() {
    startOrderedByObjective("refuse");
    long busy = arrive("middle");
    arrive("middle");
    arriveWithObjective("middle", "250");
    long patient = arriveWithObjective("middle", "900");
    core.tick(now + SECOND / 5);
    assertThat(rejections).isEmpty();
    now += SECOND / 4;
    core.tick(now);
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.OBJECTIVE_MISSED);
    assertThat(rejections.getFirst().retryAfterSeconds()).isBetween(1, 60);
    end(busy);
    assertThat(sent).containsExactly(busy, patient);
    assertThat(core.waiting()).as("it has no objective").isOne();
  }

  @Test
  void whoIsLateByItsOwnObjectiveWaitsOnUnlessTheConfigWantsItRefused() {
    startOrderedByObjective("wait");
    arrive("middle");
    arriveWithObjective("middle", "250");
    now += SECOND;
    core.tick(now);
    assertThat(rejections).isEmpty();
    assertThat(core.waiting()).isOne();
  }

  @Test
  void whoHangsUpLeavesTheQueue() {
    start("a");
    long running = arrive("middle");
    long gone = arrive("middle");
    long next = arrive("middle");
    core.ended(++now, gone, Outcome.DISCONNECTED, Usage.UNKNOWN);
    assertThat(core.waiting()).isOne();
    end(running);
    assertThat(sent).containsExactly(running, next);
  }

  @Test
  void aFailureThatIsToldOfOneThatWaitsChangesNothing() {
    start("a");
    long running = arrive("middle");
    long patient = arrive("middle");
    core.attemptFailed(++now, patient, Failure.REFUSED);
    assertThat(rejections).isEmpty();
    end(running);
    assertThat(sent).containsExactly(running, patient);
  }

  @Test
  void nobodyWaitsLongerThanItMay() {
    start("a");
    configure(true, limits(null, Duration.ofSeconds(10), null));
    arrive("middle");
    arrive("middle");
    now += 9 * SECOND;
    core.tick(now);
    assertThat(rejections).isEmpty();
    now += 2 * SECOND;
    core.tick(now);
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.QUEUE_TIMEOUT);
    assertThat(rejections.getFirst().retryAfterSeconds()).isBetween(1, 60);
    assertThat(core.waiting()).isZero();
  }

  @Test
  void oneThatFindsNoPlaceIsRefusedUnlessItIsMoreImportant() {
    start("a");
    configure(true, limits(2L, null, null));
    long running = arrive("middle");
    arrive("low");
    arrive("middle");
    arrive("middle");
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.EVICTED);
    arrive("middle");
    assertThat(rejections)
        .extracting(Rejection::reason)
        .containsExactly(Reason.EVICTED, Reason.QUEUE_FULL);
    long high = arrive("high");
    assertThat(rejections)
        .extracting(Rejection::reason)
        .containsExactly(Reason.EVICTED, Reason.QUEUE_FULL, Reason.EVICTED);
    end(running);
    assertThat(sent).containsExactly(running, high);
  }

  private void startWithEviction(String... names) {
    start(names);
    configure(
        true,
        new FlowControlConfig(null, null, null, null, true, null, null, null, null, List.of()));
  }

  private void disconnect(long request) {
    core.ended(++now, request, Outcome.DISCONNECTED, Usage.UNKNOWN);
  }

  @Test
  void noRequestInFlightMakesRoomUnlessTheConfigWantsThat() {
    start("a");
    arrive("low");
    arrive("high");
    core.tick(now += SECOND);
    assertThat(askedToEnd).isEmpty();
  }

  @Test
  void theNewestSheddableRequestsMakeRoomForAMoreImportantOne() {
    startWithEviction("a", "b", "c", "d");
    long oldest = arrive("low");
    long middle = arrive("middle");
    long older = arrive("low");
    long newest = arrive("low");
    long high = arrive("high");
    assertThat(askedToEnd).containsExactly(newest);
    assertThat(sent).as("until its frontend says so").doesNotContain(high);
    disconnect(newest);
    assertThat(sent).endsWith(high);
    arrive("high");
    arrive("high");
    arrive("high");
    disconnect(older);
    disconnect(oldest);
    core.tick(now += SECOND);
    assertThat(askedToEnd).as("nobody else is sheddable").containsExactly(newest, older, oldest);
    assertThat(core.waiting()).isOne();
    end(middle);
    assertThat(core.waiting()).isZero();
  }

  /** Behind a proxy such an end looks like one that the endpoint has made. */
  @Test
  void thatARequestMakesRoomSaysNothingOfItsEndpoint() {
    PluginConfig room =
        new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 20L));
    PluginConfig best = new PluginConfig("best", "queue-scorer", Map.of());
    PoolConfig config =
        Pool.config(
            new SchedulerConfig(
                List.of(room, best),
                List.of(),
                "room",
                Map.of("flowControl", true),
                new FlowControlConfig(
                    null, null, null, null, true, null, null, null, null, List.of()),
                null,
                List.of()),
            MODELS);
    core.configure(now, new ConfigCompiler(List.of()).compile(config));
    core.endpoints(now, List.of(Pool.endpoint("a")));
    for (int i = 0; i < 200; i++) {
      end(arrive("middle"));
    }
    for (int i = 0; i < 20; i++) {
      RequestFacts facts =
          RequestFactsBuilder.of("low", ++now, 1)
              .delivery(new RequestFacts.Delivery(true, false))
              .build();
      core.arrive(now, facts, this);
    }
    while (askedToEnd.isEmpty()) {
      arrive("high"); // the last room is kept for it
    }
    for (int i = 1; i <= 8; i++) {
      now += 150_000_000;
      assertThat(askedToEnd).hasSize(i);
      disconnect(askedToEnd.getLast());
      arrive("high");
    }
    assertThat(core.snapshot().getFirst().health().state()).isEqualTo(HealthState.IN_USE);
  }

  /**
   * Its frontend could not end it any more without a client that is left with half an answer.
   *
   * @param token whether more than what tells the client to wait has come
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRequestOfWhoseAnswerTheClientHasSomeMakesNoRoom(boolean token) {
    startWithEviction("a", "b");
    long answered = arrive("low");
    long other = arrive("low");
    begins(answered, token);
    arrive("high");
    assertThat(askedToEnd).containsExactly(other);
    begins(other, token); // its frontend had it before it was asked
    core.tick(now += SECOND);
    arrive("low");
    assertThat(askedToEnd).containsExactly(other);
    assertThat(core.waiting()).isEqualTo(2);
  }

  private void begins(long request, boolean token) {
    if (token) {
      core.firstByte(++now, request);
    } else {
      core.answering(++now, request);
    }
  }

  @Test
  void whoIsNoMoreImportantEndsNobody() {
    startWithEviction("a", "b");
    arrive("low");
    long last = arrive("low");
    arrive("low");
    core.tick(now += SECOND);
    assertThat(askedToEnd).isEmpty();
    arrive("middle");
    assertThat(askedToEnd).containsExactly(last);
  }

  @Test
  void bodiesOfWhoWaitsLeaveRoomForWhoGoesFirst() {
    core = new PoolCore(new PoolLimits(4, 100, 100, 1 << 20, 400)); // two of 192 bytes
    start("a");
    long running = arrive("middle");
    long first = arrive("middle");
    arrive("low");
    arrive("high");
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.EVICTED);
    arrive("middle");
    assertThat(rejections).extracting(Rejection::reason).endsWith(Reason.QUEUE_FULL);
    configure(true, limits(100L, null, null));
    arrive("middle");
    assertThat(rejections).as("whatever the config allows").hasSize(3);
    end(running);
    end(sent.getLast());
    assertThat(sent).hasSize(3).endsWith(first);
  }

  @Test
  void withoutEndpointsRequestsWaitOnlyWhereTheConfigSaysSo() {
    configure(true, null);
    arrive("middle");
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.NO_READY_ENDPOINTS);
    configure(true, limits(null, null, Duration.ofMinutes(2)));
    long patient = arrive("middle");
    now += 100 * SECOND;
    core.tick(now);
    assertThat(waiting).containsExactly(patient);
    core.endpoints(now, List.of(Pool.endpoint("a")));
    assertThat(sent).containsExactly(patient);
  }

  /** Its probes missed, say: pods are back with the next one. */
  @Test
  void whoComesSoonAfterTheLastEndpointLeftWaitsForOne() {
    start("a");
    end(arrive("middle"));
    core.endpoints(now, List.of());
    long first = arrive("middle");
    long sheddable = arrive("low");
    now += 14 * SECOND;
    core.tick(now);
    long late = arrive("middle");
    assertThat(rejections).isEmpty();
    assertThat(waiting).containsExactly(first, sheddable, late);
    startWithRoom(3);
    assertThat(sent).contains(first, sheddable, late);
  }

  @Test
  void butNotForLongAndWhoComesLaterIsToldAtOnce() {
    start("a");
    end(arrive("middle"));
    core.endpoints(now, List.of());
    long left = now;
    arrive("middle");
    now = left + 14 * SECOND;
    arrive("middle");
    core.tick(now);
    assertThat(rejections).isEmpty();
    now = left + 15 * SECOND;
    core.tick(now);
    assertThat(rejections).as("both").hasSize(2);
    arrive("middle");
    assertThat(rejections)
        .hasSize(3)
        .extracting(Rejection::reason)
        .containsOnly(Reason.NO_READY_ENDPOINTS);
    assertThat(core.waiting()).isZero();
  }

  @Test
  void whoWaitsForRoomStaysWhereTheLastEndpointLeavesForAMoment() {
    start("a");
    long running = arrive("middle");
    long patient = arrive("middle");
    core.endpoints(now, List.of());
    now += 2 * SECOND;
    core.tick(now);
    assertThat(rejections).isEmpty();
    core.endpoints(now, List.of(Pool.endpoint("b")));
    assertThat(sent).containsExactly(running, patient);
  }

  @ParameterizedTest
  @CsvSource({"2,", ",2"})
  void aConfigThatSaysHowLongSaysItOfThatToo(@Nullable Long none, @Nullable Long usual) {
    start("a");
    end(arrive("middle"));
    configure(true, limits(null, seconds(usual), seconds(none)));
    core.endpoints(now, List.of());
    arrive("middle");
    now += SECOND;
    core.tick(now);
    assertThat(rejections).isEmpty();
    now += SECOND;
    core.tick(now);
    assertThat(rejections).hasSize(1);
    now += 20 * SECOND;
    arrive("middle");
    assertThat(rejections).as("from when it came").hasSize(1);
  }

  private static @Nullable Duration seconds(@Nullable Long count) {
    return count == null ? null : Duration.ofSeconds(count);
  }

  @Test
  void anotherConfigLosesNobody() {
    start("a");
    long running = arrive("middle");
    long middle = arrive("middle");
    long high = arrive("high");
    configure(true, limits(1L, null, null));
    assertThat(core.waiting()).isEqualTo(2);
    end(running);
    assertThat(sent).containsExactly(running, high);
    configure(false, null);
    assertThat(sent).as("nobody is held back any more").containsExactly(running, high, middle);
    assertThat(core.waiting()).isZero();
    long low = arrive("low");
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.SATURATED);
    assertThat(sent).doesNotContain(low);
  }

  @Test
  void oneThatMayGoNowhereLetsOthersPass() {
    start("a", "b");
    long first = arrive("middle");
    long second = arrive("middle");
    String busy = endpoints.getFirst();
    // Both are at one address, so that a subset that names another has nobody.
    long third = arrive("middle");
    picky("middle", "10.9.9.9:8000");
    long fourth = arrive("other");
    end(first);
    assertThat(endpoints.getLast()).isEqualTo(busy);
    end(second);
    assertThat(sent).contains(third, fourth);
    core.tick(now += SECOND);
    end(third);
    end(fourth);
    assertThat(rejections)
        .as("answered when its turn comes")
        .extracting(Rejection::reason)
        .containsExactly(Reason.NO_READY_ENDPOINTS);
    assertThat(core.active()).isZero();
  }

  @Test
  void whoMayUseOneEndpointOnlyIsFirstThereWhoeverWasServedElsewhere() {
    configure(true, null);
    core.endpoints(
        now,
        List.of(
            new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of()),
            new EndpointSpec("b", "1", "10.0.0.2", 8000, Map.of())));
    long first = arrive("middle");
    long second = arrive("middle");
    boolean swapped = endpoints.getFirst().equals("b");
    long atA = swapped ? second : first;
    long atB = swapped ? first : second;
    long picky = picky("high", "10.0.0.1:8000");
    long third = arrive("middle");
    long fourth = arrive("middle");
    end(atB);
    assertThat(sent).containsExactly(first, second, third);
    end(atA);
    assertThat(sent).containsExactly(first, second, third, picky);
    end(third);
    assertThat(sent).containsExactly(first, second, third, picky, fourth);
  }

  @Test
  void whoMayUseOneEndpointOnlyHoldsUpNobodyOfItsOwnFlow() {
    configure(true, null);
    core.endpoints(
        now,
        List.of(
            new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of()),
            new EndpointSpec("b", "1", "10.0.0.2", 8000, Map.of())));
    long atA = picky("middle", "10.0.0.1:8000");
    long picky = picky("middle", "10.0.0.1:8000");
    long another = arrive("middle");
    assertThat(sent).as("b is idle").containsExactly(atA, another);
    long last = arrive("middle");
    end(another);
    assertThat(sent).containsExactly(atA, another, last);
    end(atA);
    assertThat(sent).containsExactly(atA, another, last, picky);
    end(last);
    end(picky);
    assertThat(core.active()).isZero();
  }

  private long picky(String model, String destination) {
    RequestFacts facts =
        RequestFactsBuilder.of(model, 7, 1, 2, 3).subset(new Subset(List.of(destination))).build();
    return core.arrive(++now, facts, this);
  }

  @Test
  void withoutEndpointsTheEndOfAWaitSaysThatThereIsNone() {
    configure(true, limits(null, null, Duration.ofSeconds(10)));
    arrive("middle");
    now += 11 * SECOND;
    core.tick(now);
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.NO_READY_ENDPOINTS);
  }

  @Test
  void aClockThatIsNegativeLetsNobodyWaitForEver() {
    now = -1_000_000 * SECOND;
    start("a");
    configure(true, limits(null, Duration.ofSeconds(10), null));
    arrive("middle");
    arrive("middle");
    core.tick(now += 11 * SECOND);
    assertThat(rejections).hasSize(1);
  }

  /** A prompt of two million tokens would be presumed to be in line for a minute. */
  @Test
  void anAnswerInOnePieceThatHasBegunIsInNobodysWay() {
    core.configure(
        now, new ConfigCompiler(List.of()).compile(Pool.config(SchedulerConfig.DEFAULT, MODELS)));
    core.endpoints(now, List.of(Pool.endpoint("a")));
    for (int i = 0; i < 8; i++) {
      RequestFacts whole =
          RequestFactsBuilder.of("middle", i).tokens(2_000_000).streamed(false).build();
      long ticket = core.arrive(++now, whole, this);
      core.firstByte(++now, ticket);
    }
    assertThat(sent).hasSize(8);
    assertThat(waiting).isEmpty();
  }

  @Test
  void aRetryNeedsNoRoom() {
    start("a", "b");
    long first = arrive("middle");
    arrive("middle");
    core.attemptFailed(++now, first, Failure.REFUSED);
    assertThat(sent).hasSize(3);
    assertThat(endpoints.get(2)).isNotEqualTo(endpoints.getFirst());
  }
}
