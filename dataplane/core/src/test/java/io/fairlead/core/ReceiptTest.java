package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.fairlead.core.receipt.DecidedRequest;
import io.fairlead.core.receipt.Decision;
import io.fairlead.core.receipt.Decision.Excluded;
import io.fairlead.core.receipt.EndpointFacts;
import io.fairlead.core.receipt.Exclusion;
import io.fairlead.core.receipt.FailedAttempt;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.receipt.ProfileRun;
import io.fairlead.core.receipt.Provenance;
import io.fairlead.core.receipt.ReceiptFilter;
import io.fairlead.core.receipt.ReceiptLog;
import io.fairlead.core.receipt.ReceiptSearch;
import io.fairlead.core.replay.DecisionInputs;
import io.fairlead.core.replay.Replay;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a receipt tells of a request. */
class ReceiptTest {

  private static final long MILLISECOND = 1_000_000;
  private static final String NAMELESS = "request-";
  private static final long RECEIPT_BYTES = 1 << 20;

  /** An endpoint's name, incarnation and labels, about. */
  private static final int SPEC_BYTES = 350;

  private Pool pool = pool(RECEIPT_BYTES);

  private static Pool pool(long maxReceiptBytes) {
    return new Pool(new PoolLimits(4, 100, 1_000, 1 << 20, 1 << 20, maxReceiptBytes));
  }

  private DecidedRequest receipt(long ticket) {
    return kept(ticket).request();
  }

  private KeptRequest kept(long ticket) {
    return Objects.requireNonNull(pool.core.receipts().find(NAMELESS + ticket));
  }

  private Decision last(long ticket) {
    return kept(ticket).decisions().getLast();
  }

  private static SchedulerConfig filtered() {
    return Pool.atOnce(
        List.of(
            new PluginConfig(
                "gold",
                "by-label",
                Map.of("label", "tier", "validValues", List.of("gold"), "allowsNoLabel", false)),
            new PluginConfig("queue", "queue-scorer", Map.of()),
            new PluginConfig("kv", "kv-cache-utilization-scorer", Map.of())),
        List.of(
            new ProfileConfig(
                "only",
                List.of(
                    new PluginReference("gold", 1),
                    new PluginReference("queue", 2),
                    new PluginReference("kv", 0.5)))));
  }

  @Test
  void tellsWhereConfigAndEndpointsWereFrom() {
    pool.core.configure(0, compiled(RequestsConfig.DEFAULT));
    pool.endpoints("a");
    Provenance kept = new Provenance(true, false);
    pool.core.origin(kept);
    long before = pool.arrive("m");
    pool.core.origin(Provenance.SOURCES);
    long after = pool.arrive("m");
    assertThat(last(before).origin()).isEqualTo(kept);
    assertThat(last(after).origin()).isEqualTo(Provenance.SOURCES);
  }

  @Test
  void keepsNoConfigThatNoReceiptIsOf() {
    RequestsConfig four = RequestsConfig.DEFAULT.withReceipts(new ReceiptsConfig(4, 1));
    WeakReference<PoolConfig> before = serveUnderOneOfItsOwn(four);
    pool.core.configure(0, compiled(four));
    for (int i = 0; i < 4; i++) {
      pool.core.ended(0, pool.arrive("m"), Outcome.COMPLETED, Usage.UNKNOWN);
    }
    pool.core.endpoints(0, List.of());
    for (int i = 0; i < 4; i++) {
      pool.arrive("m");
    }
    assertThat(alive(List.of(before))).isZero();
  }

  /** Their objects are used again much later where it is the ring that is full. */
  @Test
  void keepsNoConfigOfReceiptsWhoseWordsAreGone() {
    String[] names = IntStream.range(0, 200).mapToObj(i -> "e" + i).toArray(String[]::new);
    WeakReference<PoolConfig> before = serveUnderOneOfItsOwn(RequestsConfig.DEFAULT);
    pool.core.configure(0, compiled(RequestsConfig.DEFAULT));
    pool.endpoints(names);
    int most = pool.core.receipts().kept().most();
    for (int i = 0; i < most - 100; i++) {
      pool.arrive("m");
    }
    assertThat(pool.core.receipts().size()).isLessThan(most - 200);
    assertThat(alive(List.of(before))).isZero();
  }

  /** As in a rollout: each list lacks another endpoint, which is another process afterwards. */
  @Test
  void listsOfEndpointsThatComeAndGoStayWithinTheMemoryForReceipts() {
    pool.configure();
    List<WeakReference<?>> specs = new ArrayList<>();
    ReceiptLog log = pool.core.receipts();
    for (int change = 0; change < 1_000; change++) {
      List<EndpointSpec> list = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        if (i != change % 100) {
          list.add(labelled("e" + i, "incarnation-" + (change + 100 - i) / 100));
        }
      }
      pool.core.endpoints(0, list);
      list.forEach(spec -> specs.add(new WeakReference<>(spec)));
      pool.core.ended(0, pool.arrive("m"), Outcome.COMPLETED, Usage.UNKNOWN);
      assertThat(log.bytes()).isLessThanOrEqualTo(RECEIPT_BYTES);
    }
    assertThat((long) alive(specs) * SPEC_BYTES).isLessThan(RECEIPT_BYTES / 4);
    assertThat(log.size()).isBetween(100, 400);
    List<DecidedRequest> kept = log.newest(ReceiptFilter.ANY, 10_000);
    assertThat(kept).hasSize(log.size());
    assertThat(kept)
        .extracting(one -> last(Long.parseLong(one.id().substring(NAMELESS.length()))))
        .allMatch(decision -> decision.candidates() + decision.excluded().size() == 99);
  }

  /** A list that is told again is no other one, whatever objects it is of. */
  @Test
  void endpointsThatAreToldAgainAreNotKeptOnceMore() {
    pool.configure();
    List<WeakReference<?>> specs = new ArrayList<>();
    for (int again = 0; again < 50; again++) {
      List<EndpointSpec> list = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        list.add(labelled("e" + i, "1"));
      }
      pool.core.endpoints(0, list);
      list.forEach(spec -> specs.add(new WeakReference<>(spec)));
      pool.arrive("m");
    }
    assertThat(alive(specs)).isEqualTo(100);
    assertThat(pool.core.receipts().size()).isEqualTo(50);
  }

  @Test
  void configsThatComeAndGoStayWithinTheMemoryForReceipts() {
    pool.endpoints("a");
    List<WeakReference<?>> configs = new ArrayList<>();
    for (int edit = 0; edit < 100; edit++) {
      CompiledConfig config =
          new ConfigCompiler(List.of())
              .compile(
                  Pool.config(
                      SchedulerConfig.DEFAULT,
                      IntStream.range(0, 50)
                          .mapToObj(i -> Pool.model("m" + i, Criticality.STANDARD))
                          .toArray(ModelConfig[]::new)));
      pool.core.configure(0, config);
      configs.add(new WeakReference<>(config.source()));
      pool.core.ended(0, pool.arrive("m1"), Outcome.COMPLETED, Usage.UNKNOWN);
      assertThat(pool.core.receipts().bytes()).isLessThanOrEqualTo(RECEIPT_BYTES);
    }
    assertThat(alive(configs)).isBetween(2, 20);
    assertThat(pool.core.receipts().size()).isBetween(2, 20);
  }

  private static EndpointSpec labelled(String name, String incarnation) {
    return new EndpointSpec(
        name, incarnation, "10.0.0.1", 8000, Map.of("app", "vllm", "tier", "gold"));
  }

  /** How many are referred to; with as many collections as change that. */
  private static int alive(List<? extends WeakReference<?>> all) {
    int alive = Integer.MAX_VALUE;
    for (int before = alive, same = 0; alive > 0 && same < 3; before = alive) {
      System.gc();
      alive = (int) all.stream().filter(one -> one.get() != null).count();
      same = alive == before ? same + 1 : 0;
    }
    return alive;
  }

  private static CompiledConfig compiled(RequestsConfig requests) {
    return new ConfigCompiler(List.of())
        .compile(
            Pool.config(
                requests,
                Pool.atOnce(
                    List.of(new PluginConfig("queue", "queue-scorer", Map.of())), List.of())));
  }

  /** Sent, sent again, and refused. */
  private WeakReference<PoolConfig> serveUnderOneOfItsOwn(RequestsConfig requests) {
    CompiledConfig config = compiled(requests);
    pool.core.configure(0, config);
    pool.endpoints("a", "b");
    for (int i = 0; i < 3; i++) {
      long ticket = pool.arrive("m");
      pool.core.attemptFailed(0, ticket, Failure.REFUSED);
      pool.core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
      pool.endpoints();
      pool.arrive("m");
      pool.endpoints("a" + i, "b" + i);
    }
    assertThat(pool.routes).hasSizeGreaterThan(4);
    assertThat(pool.rejections).isNotEmpty();
    return new WeakReference<>(config.source());
  }

  /** A picker that draws takes no notice of it. */
  @Test
  void tellsWhatWasPreferredOnlyOfWhoWasPreferred() {
    pool.configure(
        Pool.atOnce(
            List.of(
                new PluginConfig("cost", "work-cost", Map.of()),
                new PluginConfig("draw", "random-picker", Map.of())),
            List.of()));
    pool.endpoints("a", "b", "c");
    int preferred = 0;
    int others = 0;
    for (int i = 0; i < 60; i++) {
      long ticket = pool.arrive("m");
      ProfileRun run = last(ticket).primaryRun();
      int picked = run.pick(0);
      boolean best =
          IntStream.range(0, 3).allMatch(place -> run.score(0, place) <= run.score(0, picked));
      assertThat(run.preference().isEmpty()).isEqualTo(!best);
      assertThat(run.costScorer()).isEqualTo("cost");
      preferred += best ? 1 : 0;
      others += best ? 0 : 1;
      pool.core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    }
    assertThat(preferred).isPositive();
    assertThat(others).isPositive();
  }

  private static EndpointSpec endpoint(String name, String tier) {
    return new EndpointSpec(name, "1", "10.0.0.1", 8000, Map.of("tier", tier));
  }

  @Test
  void tellsInALineWhereTheConfigSaysSoAndTheRequestAsks() {
    RequestsConfig told = RequestsConfig.DEFAULT.withReceipts(new ReceiptsConfig(10, 1, true));
    String header = FlowHeaders.EXPLAIN;
    assertThat(decisionHeader(told, name -> name.equals(header) ? "true" : null))
        .containsExactly(
            new Route.Header("x-fairlead-decision", "b; score=1; c=-0.5; a=-1; candidates=3"));
    assertThat(decisionHeader(told, RequestHeaders.NONE)).isEmpty();
    assertThat(decisionHeader(RequestsConfig.DEFAULT, name -> "true")).isEmpty();
    assertThat(
            decisionHeader(
                RequestsConfig.DEFAULT.withReceipts(new ReceiptsConfig(0, 1, true)),
                name -> "true"))
        .as("no receipt, nothing to tell")
        .isEmpty();
  }

  /** A request may be under way for longer than its receipt is kept. */
  @Test
  void tellsNothingOfARequestWhoseReceiptIsNotKeptAnyMore() {
    pool = byQueue(RequestsConfig.DEFAULT.withReceipts(new ReceiptsConfig(10_000, 1, true)));
    pool.endpoints(IntStream.range(0, 200).mapToObj(i -> "e" + i).toArray(String[]::new));
    RequestFacts asking =
        RequestFactsBuilder.of("m", 1, 1, 2).bodyBytes(10).headers(name -> "true").build();
    long ticket = pool.core.arrive(0, asking, pool);
    assertThat(pool.lastRoute().responseHeaders()).hasSize(1);
    for (int i = 0; i < 500; i++) {
      pool.arrive("m");
    }
    pool.core.attemptFailed(0, ticket, Failure.REFUSED);
    assertThat(pool.routes).hasSize(502);
    assertThat(pool.rejections).isEmpty();
    assertThat(pool.lastRoute().responseHeaders()).isEmpty();
  }

  private static Pool byQueue(RequestsConfig requests) {
    Pool pool = pool(256 << 10);
    pool.core.configure(
        0,
        new ConfigCompiler(List.of())
            .compile(
                Pool.config(
                    requests,
                    Pool.atOnce(
                        List.of(new PluginConfig("queue", "queue-scorer", Map.of())), List.of()))));
    return pool;
  }

  /** Its client can't drive the receipts of all others out by it. */
  @Test
  void aLongHeaderTakesNoPlaceOfOtherReceipts() {
    SchedulerConfig bySession =
        Pool.atOnce(
            List.of(
                new PluginConfig(
                    "session", "session-affinity-scorer", Map.of("strategy", "session_id"))),
            List.of());
    CompiledConfig config =
        new ConfigCompiler(List.of()).compile(Pool.config(RequestsConfig.DEFAULT, bySession));
    pool.core.configure(0, config);
    pool.endpoints("a", "b");
    String longest = "s".repeat(1_024);
    long first = arrive(name -> longest);
    for (int i = 0; i < 100; i++) {
      arrive(name -> "s".repeat(60_000));
    }
    assertThat(pool.core.receipts().find(NAMELESS + first)).isNotNull();
    assertThat(last(first).request().headers()).containsEntry("x-session-id", longest);
    long last = arrive(name -> "s".repeat(1_025));
    assertThat(last(last).request().headers()).as("not kept").doesNotContainKey("x-session-id");
    DecisionInputs inputs = DecisionInputs.of(last(last));
    Replay.Outcome again =
        Replay.of(inputs, new ConfigCompiler(List.of()).compile(config.source()));
    assertThat(again.runs()).isEqualTo(inputs.runs());
    Replay.Outcome other =
        Replay.of(
            inputs,
            new ConfigCompiler(List.of())
                .compile(
                    Pool.config(
                        Pool.atOnce(
                            List.of(
                                new PluginConfig(
                                    "hash", "consistent-hash-picker", Map.of("key", "session"))),
                            List.of()))));
    assertThat(other.leftOut().get("hash")).contains("header x-session-id", "longer than 1,024");
  }

  private long arrive(RequestHeaders headers) {
    RequestFacts facts =
        RequestFactsBuilder.of("m", 1, 1, 2).bodyBytes(10).headers(headers).build();
    return pool.core.arrive(0, facts, pool);
  }

  private static List<Route.Header> decisionHeader(
      RequestsConfig requests, RequestHeaders headers) {
    Pool pool = byQueue(requests);
    pool.endpoints("a", "b", "c");
    int waiting = 2;
    for (String name : List.of("a", "c", "b")) {
      pool.core.scraped(0, Pool.endpoint(name), 0, new EndpointMetrics(waiting--, 1, 0, 16, 100));
    }
    RequestFacts asking =
        RequestFactsBuilder.of("m", 1, 1, 2).bodyBytes(10).headers(headers).build();
    pool.core.arrive(0, asking, pool);
    return pool.lastRoute().responseHeaders();
  }

  @Test
  void tellsWhoWasRejectedByWhichFilterAndWhatTheOthersScored() {
    pool.configure(filtered());
    List<EndpointSpec> endpoints =
        List.of(endpoint("a", "gold"), endpoint("b", "iron"), endpoint("c", "gold"));
    pool.core.endpoints(0, endpoints);
    pool.core.scraped(0, endpoints.get(0), 0, busy(7, 0.5));
    pool.core.scraped(0, endpoints.get(1), 0, busy(0, 0.25));
    pool.core.scraped(0, endpoints.get(2), 0, busy(0, 0.25));
    pool.now = 3 * MILLISECOND;
    long ticket = pool.arrive("m");

    DecidedRequest receipt = receipt(ticket);
    assertThat(receipt.endpoint()).isEqualTo("c").isEqualTo(pool.lastRoute().endpoint());
    Decision decision = last(ticket);
    ProfileRun run = decision.primaryRun();
    assertThat(run.outline().name()).isEqualTo("only");
    assertThat(run.outline().filters()).containsExactly("gold");
    int a = candidate(decision, "a");
    int b = candidate(decision, "b");
    int c = candidate(decision, "c");
    assertThat(run.rejectedBy(b)).isZero();
    assertThat(run.rejectedBy(a)).isEqualTo(ProfileRun.KEPT);
    assertThat(run.place(b)).isNegative();
    assertThat(run.score(0, run.place(a))).isZero();
    assertThat(run.score(0, run.place(c))).isEqualTo(1);
    assertThat(run.sum(run.place(c))).isEqualTo(2 * 1 + 0.5 * 0.75);
    EndpointFacts facts = Objects.requireNonNull(decision.facts(a));
    assertThat(facts.scrapedWaiting()).isEqualTo(7);
    assertThat(facts.kvUsage()).isEqualTo(0.5);
    assertThat(facts.health()).isEqualTo(HealthState.IN_USE);
    assertThat(decision.at() - facts.scrapedAt()).isEqualTo(3 * MILLISECOND);
    assertThat(decision.facts(c)).isNotNull();
  }

  private static int candidate(Decision decision, String name) {
    for (int i = 0; i < decision.candidates(); i++) {
      if (decision.candidate(i).equals(name)) {
        return i;
      }
    }
    throw new AssertionError(name + " is no candidate: " + decision.excluded());
  }

  private static EndpointMetrics busy(int waiting, double kvUsage) {
    return new EndpointMetrics(
        waiting, 1, kvUsage, 16, 1_000, "", -1, List.of(), List.of(), Map.of());
  }

  @Test
  void tellsTheTermsOfACost() {
    pool.configure().endpoints("a", "b");
    pool.arrive("m", 1, 2, 3);
    long ticket = pool.arrive("m", 4, 5, 6, 7);
    ProfileRun run = last(ticket).primaryRun();
    assertThat(run.outline().scorers().getFirst().name()).isEqualTo("work-cost");
    assertThat(run.costTerms().getFirst().name()).isEqualTo("prefills before it");
    int winner = run.pick(0);
    int other = 1 - winner;
    assertThat(run.costMillis(winner, 0)).as("nobody is before it").isZero();
    assertThat(run.costMillis(other, 0)).isPositive();
    assertThat(run.cost(winner)).isLessThan(run.cost(other));
    assertThat(receipt(ticket).expectedFirstToken())
        .isCloseTo(run.costMillis(winner, 1), withinPercentage(1e-4))
        .isLessThan(run.cost(winner));
  }

  @Test
  void followsTheRequestToItsEnd() {
    pool.configure().endpoints("a", "b");
    pool.now = 5 * MILLISECOND;
    long ticket = pool.arrive("m", 1, 2);
    assertThat(receipt(ticket).outcome()).isEqualTo("open");
    assertThat(receipt(ticket).tookNanos()).isEqualTo(-1);
    pool.now += 40 * MILLISECOND;
    pool.core.attemptFailed(pool.now, ticket, Failure.DIED);
    pool.now += 60 * MILLISECOND;
    pool.core.firstByte(pool.now, ticket);
    pool.now += 900 * MILLISECOND;
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, new Usage(33, 7, 16));

    DecidedRequest receipt = receipt(ticket);
    assertThat(kept(ticket).decisions()).hasSize(2);
    assertThat(kept(ticket).failed(0)).isEqualTo(new FailedAttempt(Failure.DIED, 45 * MILLISECOND));
    assertThat(kept(ticket).failed(1)).isNull();
    assertThat(kept(ticket).notSentAgain()).isNull();
    assertThat(last(ticket).excluded())
        .containsExactly(
            new Excluded(
                pool.routes.getFirst().endpoint(), Exclusion.TRIED, "", HealthState.IN_USE, 0, ""));
    assertThat(receipt.endpoint()).isEqualTo(pool.lastRoute().endpoint());
    assertThat(receipt.firstTokenNanos()).isEqualTo(100 * MILLISECOND);
    assertThat(receipt.tookNanos()).isEqualTo(1_000 * MILLISECOND);
    assertThat(receipt.outcome()).isEqualTo("completed");
    assertThat(receipt.usage()).isEqualTo(new Usage(33, 7, 16));
    assertThat(receipt.firstTokenError()).isEqualTo(60 - receipt.expectedFirstToken());
  }

  @Test
  void tellsOfAWaitAndOfARefusal() {
    pool.core.configure(0, Pool.withRoom(1, Pool.model("m", Criticality.CRITICAL)));
    pool.endpoints("a");
    long first = pool.arrive("m");
    long second = pool.arrive("m");
    assertThat(receipt(second).waited()).isTrue();
    assertThat(kept(second).decisions()).isEmpty();
    assertThat(receipt(second).beforeSentNanos()).isEqualTo(-1);
    pool.now += 250 * MILLISECOND;
    pool.core.ended(pool.now, first, Outcome.COMPLETED, Usage.UNKNOWN);
    DecidedRequest sent = receipt(second);
    assertThat(sent.beforeSentNanos()).isEqualTo(250 * MILLISECOND);
    assertThat(sent.priority()).isEqualTo(1);
    assertThat(sent.flow()).isEqualTo("m");
    long third = pool.arrive("m");
    pool.core.refuseWaiting(pool.now);
    assertThat(receipt(third).outcome()).isEqualTo("shutting_down");
    assertThat(receipt(third).endpoint()).isEmpty();
  }

  /** Of a request that nobody gets each endpoint's own reason is told, twice for one that waits. */
  @Test
  void tellsOfEachEndpointWhyItDidNotGetARequestThatNobodyGot() {
    pool.core.configure(0, Pool.withRoom(1, Pool.model("m", Criticality.CRITICAL)));
    pool.endpoints("a", "b");
    long first = pool.arrive("m");
    long second = pool.arrive("m");
    pool.now = MILLISECOND;
    long waits = pool.arrive("m");
    Decision began = refusals(waits).getFirst();
    assertThat(began.isRefusal()).isTrue();
    assertThat(began.at()).isEqualTo(MILLISECOND);
    assertThat(began.ceiling()).isEqualTo(1);
    assertThat(began.excluded())
        .containsExactly(
            new Excluded("a", Exclusion.FULL, "requests in flight", HealthState.IN_USE, 0, ""),
            new Excluded("b", Exclusion.FULL, "requests in flight", HealthState.IN_USE, 0, ""));
    EndpointFacts facts = Objects.requireNonNull(began.factsOf(began.excluded().getFirst()));
    assertThat(facts.saturation()).isEqualTo(1);
    assertThat(facts.inFlight()).isEqualTo(1);
    pool.now = 2 * MILLISECOND;
    for (int i = 0; i < 3; i++) {
      pool.core.unreachable(pool.now, Pool.endpoint("b"), pool.now, Failure.REFUSED);
    }
    pool.core.refuseWaiting(pool.now);
    assertThat(refusals(waits)).hasSize(2);
    Decision ended = refusals(waits).getLast();
    assertThat(ended.excluded())
        .containsExactly(
            new Excluded("a", Exclusion.FULL, "requests in flight", HealthState.IN_USE, 0, ""),
            new Excluded("b", Exclusion.OUT, "", HealthState.IN_USE, 0, ""));
    EndpointFacts out = Objects.requireNonNull(ended.factsOf(ended.excluded().getLast()));
    assertThat(out.health()).isEqualTo(HealthState.OUT);
    assertThat(out.healthSince()).isEqualTo(2 * MILLISECOND);
    assertThat(out.healthReason()).isNotEmpty();

    // One that is sent in the end keeps why it waited.
    long third = pool.arrive("m");
    pool.core.ended(pool.now, first, Outcome.COMPLETED, Usage.UNKNOWN);
    pool.core.ended(pool.now, second, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(kept(third).decisions()).hasSize(1);
    assertThat(refusals(third)).hasSize(1);
  }

  @Test
  void tellsWhyItWasNotSentAgain() {
    pool.configure().endpoints("a", "b");
    long nobody = pool.arrive("m");
    pool.core.attemptFailed(MILLISECOND, nobody, Failure.REFUSED);
    pool.core.attemptFailed(2 * MILLISECOND, nobody, Failure.ERROR);
    assertThat(kept(nobody).failed(0)).isEqualTo(new FailedAttempt(Failure.REFUSED, MILLISECOND));
    assertThat(kept(nobody).failed(1)).isEqualTo(new FailedAttempt(Failure.ERROR, 2 * MILLISECOND));
    assertThat(kept(nobody).notSentAgain()).isEqualTo(NotSentAgain.NOBODY_ELSE);

    long begun = pool.arrive("m");
    pool.core.firstByte(3 * MILLISECOND, begun);
    assertThat(kept(begun).notSentAgain()).isNull();
    pool.core.ended(4 * MILLISECOND, begun, Outcome.FAILED, Usage.UNKNOWN);
    assertThat(kept(begun).failed(0))
        .isEqualTo(new FailedAttempt(Failure.BROKEN_OFF, 4 * MILLISECOND));
    assertThat(kept(begun).notSentAgain()).isEqualTo(NotSentAgain.ANSWERED);
  }

  @Test
  void theNextRequestOfItsPlaceHasNotFailed() {
    keep(1, 1);
    pool.endpoints("a", "b");
    long failed = pool.arrive("m");
    pool.core.attemptFailed(0, failed, Failure.REFUSED);
    for (int i = 0; i < 3; i++) {
      long next = pool.arrive("m");
      assertThat(kept(next).failed(0)).isNull();
      assertThat(kept(next).notSentAgain()).isNull();
    }
  }

  @Test
  void tellsOfALargePoolWhoIsOut() {
    String[] names = IntStream.range(0, 200).mapToObj(i -> "e" + i).toArray(String[]::new);
    pool.configure().endpoints(names);
    for (int i = 100; i < 150; i++) {
      for (int times = 0; times < 3; times++) {
        pool.core.unreachable(0, Pool.endpoint("e" + i), 0, Failure.REFUSED);
      }
    }
    List<Excluded> excluded = last(pool.arrive("m")).excluded();
    assertThat(excluded).hasSize(50).allMatch(one -> one.why() == Exclusion.OUT);
    assertThat(excluded.subList(0, 32))
        .allMatch(one -> one.reason().equals(Failure.REFUSED.words()));
    assertThat(excluded.subList(32, 50)).allMatch(one -> one.reason().isEmpty());
  }

  /** Of a large pool many are out for one reason: it is not written for each of them. */
  @Test
  void aLargePoolOfWhichFewAreAllowedTakesNoWordForEachOfTheOthers() {
    int size = 2_000;
    PoolCore core = new PoolCore(new PoolLimits(4, 1 << 16, 1 << 20, 1 << 20, 1 << 20, 64 << 10));
    core.configure(
        0,
        new ConfigCompiler(List.of())
            .compile(Pool.config(SchedulerConfig.DEFAULT, Pool.model("m", Criticality.STANDARD))));
    List<EndpointSpec> specs =
        IntStream.range(0, size)
            .mapToObj(i -> new EndpointSpec("e" + i, "1", "10.0.0.1", 8000 + i, Map.of()))
            .toList();
    core.endpoints(0, specs);
    for (int out : new int[] {7, 8, 1_000, 1_500}) {
      for (int times = 0; times < 3; times++) {
        core.unreachable(0, specs.get(out), 0, Failure.REFUSED);
      }
    }
    // Those that may be used are not next to each other, nor are those that are out.
    Subset subset = new Subset(List.of("10.0.0.1:8005", "10.0.0.1:8008", "10.0.0.1:9500"));
    List<Long> tickets = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      RequestFacts facts = RequestFactsBuilder.of("m", i, i).subset(subset).build();
      tickets.add(core.arrive(0, facts, pool));
    }
    Decision first =
        Objects.requireNonNull(core.receipts().find(NAMELESS + tickets.getFirst()))
            .decisions()
            .getFirst();
    assertThat(first.excluded())
        .containsExactlyElementsOf(
            IntStream.range(0, size).filter(i -> i != 5).mapToObj(i -> excluded(i)).toList());
  }

  /**
   * Of each 64 some are written at once: all that are not allowed, where nobody is left out else.
   */
  @Test
  void aLargePoolTellsWhoIsNotAllowedAndWhoIsFull() {
    pool.core.configure(0, Pool.withRoom(1, Pool.model("m", Criticality.CRITICAL)));
    List<EndpointSpec> specs =
        IntStream.range(0, 200)
            .mapToObj(i -> new EndpointSpec("e" + i, "1", "10.0.0.1", 8000 + i, Map.of()))
            .toList();
    pool.core.endpoints(0, specs);
    arrive(IntStream.of(130));
    arrive(IntStream.of(131));
    long ticket = arrive(IntStream.concat(IntStream.range(64, 128), IntStream.range(130, 141)));
    Excluded[] expected =
        IntStream.range(0, 200)
            .filter(i -> i < 64 || (i >= 128 && i < 132) || i >= 141)
            .mapToObj(i -> i == 130 || i == 131 ? full(i) : notAllowed(i))
            .toArray(Excluded[]::new);
    assertThat(last(ticket).excluded()).containsExactly(expected);
    pool.core.attemptFailed(0, ticket, Failure.REFUSED);
    // It goes where it is full, too, and not where it failed.
    assertThat(last(ticket).excluded())
        .hasSize(expected.length - 1)
        .filteredOn(one -> one.why() != Exclusion.NOT_ALLOWED)
        .extracting(Excluded::why)
        .containsExactly(Exclusion.TRIED);
  }

  /** A request that the gateway allows these places. */
  private long arrive(IntStream places) {
    Subset subset = new Subset(places.mapToObj(i -> "10.0.0.1:" + (8000 + i)).toList());
    return pool.core.arrive(0, RequestFactsBuilder.of("m", 1, 1).subset(subset).build(), pool);
  }

  private static Excluded full(int place) {
    return new Excluded(
        "e" + place, Exclusion.FULL, "requests in flight", HealthState.IN_USE, 0, "");
  }

  private static Excluded notAllowed(int place) {
    return new Excluded("e" + place, Exclusion.NOT_ALLOWED, "", HealthState.IN_USE, 0, "");
  }

  private static Excluded excluded(int place) {
    Exclusion why = place == 8 || place == 1_500 ? Exclusion.OUT : Exclusion.NOT_ALLOWED;
    boolean out = why == Exclusion.OUT || place == 7 || place == 1_000;
    return new Excluded(
        "e" + place,
        why,
        "",
        out ? HealthState.OUT : HealthState.IN_USE,
        0,
        out ? Failure.REFUSED.words() : "");
  }

  @Test
  void aNewcomerIsSaidToBeNew() {
    pool.configure().endpoints("a", "b", "c");
    pool.now = 5_000 * MILLISECOND;
    for (int i = 0; i < 10; i++) {
      long ticket = pool.arrive("m", i, i + 1);
      pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    }
    pool.endpoints("a", "b", "c", "d");
    assertThat(last(pool.arrive("m", 77, 78)).excluded())
        .containsExactly(new Excluded("d", Exclusion.NEW, "", HealthState.IN_USE, 0, ""));
  }

  /** A client that sends again, or a proxy before it, keeps the id. */
  @Test
  void eachOfTheRequestsOfANameIsFound() {
    pool.configure().endpoints("a");
    for (String model : List.of("first", "second", "third")) {
      pool.core.arrive(0, RequestFactsBuilder.of(model, 1, 1, 2).id("mine").build(), pool);
      pool.arrive("m");
    }
    for (int nth = 1; nth <= 3; nth++) {
      ReceiptSearch<Optional<KeptRequest>> search = pool.core.receipts().named("mine", nth);
      assertThat(search.next()).isFalse();
      assertThat(search.found()).hasSize(3);
      assertThat(search.found().get(nth - 1))
          .hasValueSatisfying(found -> assertThat(found.request().id()).isEqualTo("mine"));
      assertThat(search.found()).filteredOn(Optional::isPresent).hasSize(1);
    }
    ReceiptSearch<Optional<KeptRequest>> none = pool.core.receipts().named("mine", 4);
    assertThat(none.next()).isFalse();
    assertThat(none.found()).hasSize(3).allMatch(Optional::isEmpty);
  }

  @Test
  void noRequestIsOfAnEmptyName() {
    pool.configure().endpoints("a");
    pool.core.arrive(0, RequestFactsBuilder.of("m", 1, 1, 2).id("mine").build(), pool);
    pool.arrive("m");
    assertThat(pool.core.receipts().find("mine")).isNotNull();
    assertThat(pool.core.receipts().find("")).isNull();
  }

  @Test
  void tellsWhichFilterLeftNobody() {
    pool.configure(filtered());
    pool.core.endpoints(0, List.of(endpoint("a", "iron"), endpoint("b", "lead")));
    long ticket = pool.arrive("m");
    assertThat(receipt(ticket).outcome()).isEqualTo("no_suitable_endpoint");
    Decision refusal = refusals(ticket).getFirst();
    assertThat(refusals(ticket)).hasSize(1);
    assertThat(refusal.excluded()).isEmpty();
    ProfileRun run = refusal.runs().getFirst();
    assertThat(run.outline().filters().get(run.rejectedBy(0))).isEqualTo("gold");
    assertThat(run.rejectedBy(1)).isEqualTo(run.rejectedBy(0));
    assertThat(run.pickCount()).isZero();

    pool.core.endpoints(0, List.of());
    long lost = pool.arrive("m");
    assertThat(refusals(lost).getFirst().candidates()).isZero();
  }

  private List<Decision> refusals(long ticket) {
    return kept(ticket).refusals();
  }

  @Test
  void keepsTheNewestWithinItsBounds() {
    keep(3, 1);
    pool.endpoints("a");
    long oldest = pool.arrive("m");
    pool.arrive("m");
    pool.arrive("m");
    long newest = pool.arrive("m");
    ReceiptLog log = pool.core.receipts();
    assertThat(log.find(NAMELESS + oldest)).isNull();
    assertThat(log.newest(ReceiptFilter.ANY, 10)).hasSize(3);
    assertThat(log.newest(ReceiptFilter.ANY, 1).getFirst().id()).isEqualTo(NAMELESS + newest);
    // The end of one that is not kept any more is no business of the log.
    pool.core.ended(1, oldest, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(log.size()).isEqualTo(3);

    // In a large pool it is the scores that fill the ring.
    pool = pool(256 << 10);
    pool.configure()
        .endpoints(IntStream.range(0, 200).mapToObj(i -> "e" + i).toArray(String[]::new));
    long[] tickets = IntStream.range(0, 500).mapToLong(i -> pool.arrive("m")).toArray();
    int kept = pool.core.receipts().size();
    assertThat(kept).isBetween(50, 110);
    assertThat(pool.core.receipts().bytes()).isLessThanOrEqualTo(256 << 10);
    assertThat(pool.core.receipts().find(NAMELESS + tickets[499 - kept])).isNull();
    for (int i = 500 - kept; i < 500; i++) {
      assertThat(last(tickets[i]).candidates()).isEqualTo(200);
    }
  }

  @Test
  void writesNoneOrOneInSoManyAsSet() {
    pool = pool(0);
    pool.configure().endpoints("a");
    pool.arrive("m");
    assertThat(pool.core.receipts().size()).isZero();
    pool = pool(1 << 20);
    keep(0, 1);
    pool.endpoints("a");
    pool.arrive("m");
    assertThat(pool.core.receipts().size()).isZero();
    keep(100, 10);
    for (int i = 0; i < 50; i++) {
      pool.arrive("m");
    }
    assertThat(pool.core.receipts().size()).isEqualTo(5);
    // An edit holds at once: what is beyond it goes.
    keep(2, 1);
    assertThat(pool.core.receipts().size()).isEqualTo(2);
    assertThatThrownBy(() -> new ReceiptsConfig(1, 0)).hasMessageContaining("every is 0");
  }

  private void keep(int most, int every) {
    RequestsConfig requests = RequestsConfig.DEFAULT.withReceipts(new ReceiptsConfig(most, every));
    pool.core.configure(
        pool.now,
        new ConfigCompiler(List.of()).compile(Pool.config(requests, SchedulerConfig.DEFAULT)));
  }

  /** A name is a client's to choose: neither its length nor a second use does harm. */
  @Test
  void findsTheNewestOfAName() {
    pool.configure().endpoints("a", "b");
    String longName = "x".repeat(1_000_000);
    arrive(longName, 1);
    arrive(longName, 2);
    for (String name : List.of(longName, longName.substring(0, 128))) {
      KeptRequest found = Objects.requireNonNull(pool.core.receipts().find(name));
      assertThat(found.request().blocks()).isEqualTo(2);
    }
    assertThat(pool.core.receipts().bytes()).isLessThan(100_000);
  }

  @Test
  void listsThoseThatAreAskedFor() {
    pool.configure().endpoints("a", "b");
    pool.arrive("m");
    long failed = pool.arrive("other");
    String where = pool.lastRoute().endpoint();
    pool.core.ended(1, failed, Outcome.FAILED, Usage.UNKNOWN);
    ReceiptLog log = pool.core.receipts();
    for (ReceiptFilter filter :
        List.of(
            new ReceiptFilter("other", null, null),
            new ReceiptFilter(null, null, "failed"),
            new ReceiptFilter("other", where, "failed"))) {
      assertThat(log.newest(filter, 10))
          .as("%s", filter)
          .extracting(DecidedRequest::id)
          .containsExactly(NAMELESS + failed);
    }
    assertThat(log.newest(new ReceiptFilter("m", null, "failed"), 10)).isEmpty();
    assertThat(log.newest(new ReceiptFilter(null, "nobody", null), 10)).isEmpty();
  }

  /** Whoever looks for what is not there looks at all of them: requests must come in between. */
  @Test
  void isSearchedInPieces() {
    keep(3_000, 1);
    pool.endpoints("a");
    for (int i = 0; i < 1_000; i++) {
      pool.arrive("m");
    }
    ReceiptLog log = pool.core.receipts();
    assertThat(log.size()).isEqualTo(1_000);
    ReceiptSearch<?> nobody = log.accepted(new ReceiptFilter("other", null, null), 10);
    ReceiptSearch<?> all = log.accepted(ReceiptFilter.ANY, 9_999);
    for (ReceiptSearch<?> search : List.of(nobody, all, log.named("nobody's", 1))) {
      int pieces = 1;
      while (search.next()) {
        pieces++;
      }
      assertThat(pieces).isEqualTo(1 + 1_000 / ReceiptSearch.PIECE);
    }
    assertThat(nobody.found()).isEmpty();
    assertThat(all.found()).hasSize(1_000);
    assertThat(log.accepted(ReceiptFilter.ANY, 3).next()).as("three are enough").isFalse();
  }

  @Test
  void whatComesAndGoesAmidASearchIsNotFoundOrLost() {
    keep(1_000, 1);
    pool.endpoints("a");
    for (int i = 0; i < 1_000; i++) {
      pool.arrive("m");
    }
    ReceiptSearch<DecidedRequest> search = pool.core.receipts().accepted(ReceiptFilter.ANY, 9_999);
    search.next();
    for (int i = 0; i < 100; i++) {
      pool.arrive("m");
    }
    keep(800, 1);
    while (search.next()) {
      // to the end
    }
    assertThat(search.found()).as("300 are not kept any more").hasSize(700).doesNotHaveDuplicates();
  }

  private void arrive(String id, int blocks) {
    RequestFacts named = RequestFactsBuilder.of("m", 1, new long[blocks]).id(id).build();
    pool.core.arrive(pool.now, named, pool);
  }
}
