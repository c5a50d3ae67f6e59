package io.fairlead.core;

import static io.fairlead.core.Pool.endpoint;
import static io.fairlead.core.Pool.model;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.TargetModel;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PoolCoreTest {

  private final Pool pool = new Pool();

  @Test
  void rejectsWhatItCannotPlaceYet() {
    pool.arrive("m");
    pool.configure();
    pool.arrive("m");

    assertThat(pool.rejections)
        .extracting(Rejection::reason)
        .containsExactly(Reason.NOT_CONFIGURED, Reason.NO_READY_ENDPOINTS);
    assertThat(pool.core.active()).isZero();
    assertThat(pool.core.ready()).isFalse();
  }

  @Test
  void isReadyOnceItHasConfigAndEndpoints() {
    pool.endpoints("a");
    assertThat(pool.core.ready()).isFalse();
    pool.configure();
    assertThat(pool.core.ready()).isTrue();
    pool.endpoints();
    assertThat(pool.core.ready()).isFalse();
  }

  @Test
  void countsARequestFromSendToEnd() {
    pool.configure().endpoints("a");

    long ticket = pool.arrive("m", 1, 2, 3);
    assertThat(Pool.accounts(pool.snapshot("a")))
        .isEqualTo(
            new EndpointSnapshot(
                "a", 1, 1, 0, Double.NaN, 1, 0, 3, false, Pool.WELL, Long.MIN_VALUE));
    pool.core.firstByte(pool.now, ticket);
    pool.core.firstByte(pool.now, ticket);
    assertThat(Pool.accounts(pool.snapshot("a")))
        .isEqualTo(
            new EndpointSnapshot(
                "a", 1, 0, 0, Double.NaN, 1, 0, 3, false, Pool.WELL, Long.MIN_VALUE));
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    pool.core.firstByte(pool.now, ticket);
    pool.core.attemptFailed(pool.now, ticket, Failure.DIED);
    assertThat(Pool.accounts(pool.snapshot("a")))
        .isEqualTo(
            new EndpointSnapshot(
                "a", 0, 0, 0, Double.NaN, 1, 0, 3, false, Pool.WELL, Long.MIN_VALUE));
    assertThat(pool.core.active()).isZero();
    assertThat(pool.effects).hasSize(1);
  }

  @Test
  void sendsAPromptWhereItsHeadIs() {
    pool.configure().endpoints("a", "b", "c");

    pool.serve("m", 1, 2, 3);
    Route first = pool.lastRoute();
    pool.serve("m", 1, 2, 3, 4);
    Route second = pool.lastRoute();
    pool.arrive("other", 1, 2, 3);

    assertThat(second.endpoint()).isEqualTo(first.endpoint());
    assertThat(second.matchedBlocks()).isEqualTo(3);
    assertThat(pool.lastRoute().matchedBlocks()).as("another model shares no blocks").isZero();
  }

  /** With a request in flight on every second endpoint, one that is alone takes the others. */
  @Test
  void agreesWithOtherPickersAsSoonAsItIsToldThatThereAreSome() {
    assertThat(pickedBusyOnes(1)).isZero();
    assertThat(pickedBusyOnes(3)).isGreaterThan(20);
    assertThat(pickedBusyOnes(1)).as("alone again").isZero();

    assertThatIllegalArgumentException()
        .isThrownBy(() -> pool.core.replicas(0))
        .withMessage("replicas is 0; a pool has 1 or more");
  }

  private int pickedBusyOnes(int replicas) {
    if (!pool.core.ready()) {
      pool.configure().endpoints("a", "b");
    }
    pool.core.replicas(replicas);
    int busy = 0;
    for (long prompt = 1; prompt <= 100; prompt++) {
      long one = pool.arrive("m", prompt * 1_000, prompt * 1_000 + 1);
      String first = pool.lastRoute().endpoint();
      long other = pool.arrive("m", prompt * 77, prompt * 77 + 1);
      busy += pool.lastRoute().endpoint().equals(first) ? 1 : 0;
      pool.core.ended(pool.now, one, Outcome.DISCONNECTED, Usage.UNKNOWN);
      pool.core.ended(pool.now, other, Outcome.DISCONNECTED, Usage.UNKNOWN);
    }
    return busy;
  }

  @Test
  void retriesOnAnotherEndpointOnceThenGivesUp() {
    pool.configure().endpoints("a", "b", "c");

    long ticket = pool.arrive("m");
    pool.core.attemptFailed(0, ticket, Failure.DIED);
    assertThat(pool.routes).extracting(Route::attempt).containsExactly(1, 2);
    assertThat(pool.routes).extracting(Route::endpoint).doesNotHaveDuplicates();
    pool.core.attemptFailed(0, ticket, Failure.DIED);

    assertThat(pool.rejections).extracting(Rejection::reason).containsOnly(Reason.UPSTREAM_FAILED);
    assertThat(pool.core.active()).isZero();
    assertThat(pool.core.snapshot()).allMatch(s -> s.inFlight() == 0);
  }

  @Test
  void givesUpWhenNoOtherEndpointIsLeft() {
    pool.configure().endpoints("a");
    pool.core.attemptFailed(0, pool.arrive("m"), Failure.DIED);
    assertThat(pool.rejections).extracting(Rejection::reason).containsOnly(Reason.UPSTREAM_FAILED);
  }

  @Test
  void doesNotRetryAfterAFirstToken() {
    pool.configure().endpoints("a", "b");
    long ticket = pool.arrive("m");
    pool.core.firstByte(0, ticket);
    pool.core.attemptFailed(0, ticket, Failure.DIED);
    assertThat(pool.routes).hasSize(1);
    assertThat(pool.rejections).extracting(Rejection::reason).containsOnly(Reason.UPSTREAM_FAILED);
    assertThat(pool.core.snapshot())
        .allMatch(s -> s.inFlight() == 0 && s.awaitingFirstToken() == 0);
  }

  @Test
  void retryFollowsTheConfigAndEndpointsOfItsOwnTime() {
    pool.configure(model("m", Criticality.CRITICAL, new TargetModel("old", 1))).endpoints("a");
    long ticket = pool.arrive("m");
    pool.configure(model("m", Criticality.STANDARD, new TargetModel("new", 1))).endpoints("b");
    pool.core.attemptFailed(0, ticket, Failure.DIED);

    assertThat(pool.lastRoute())
        .isEqualTo(new Route("new", Criticality.STANDARD, "b", "10.0.0.1", 8000, 0, 2));
    assertThat(pool.core.snapshot()).extracting(EndpointSnapshot::name).containsExactly("b");
  }

  @Test
  void keepsAnEndpointThatLeftUntilItsLastRequestEnds() {
    pool.configure().endpoints("a");
    long ticket = pool.arrive("m");
    pool.endpoints("b");
    assertThat(pool.snapshot("a").leaving()).isTrue();
    pool.arrive("m");
    assertThat(pool.lastRoute().endpoint()).isEqualTo("b");

    pool.core.ended(0, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN);
    assertThat(pool.core.snapshot()).extracting(EndpointSnapshot::name).containsExactly("b");
  }

  @Test
  void anEndpointThatComesBackKeepsItsAccount() {
    pool.configure().endpoints("a");
    long ticket = pool.arrive("m", 1, 2);
    pool.endpoints().endpoints("a");
    assertThat(pool.core.snapshot()).hasSize(1);
    assertThat(pool.snapshot("a").inFlight()).isEqualTo(1);
    pool.core.firstByte(0, ticket);
    pool.core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    pool.arrive("m", 1, 2);
    assertThat(pool.lastRoute().matchedBlocks()).isEqualTo(2);
  }

  @Test
  void aNewIncarnationStartsAfreshAndTheOldOnesEndNeverTouchesIt() {
    pool.configure().endpoints("a");
    long old = pool.arrive("m", 1, 2);
    pool.core.scraped(0, endpoint("a"), 0, new EndpointMetrics(7, 3, 0.5, 16, 100));
    pool.core.endpoints(0, List.of(endpoint("a", "2")));
    assertThat(pool.core.snapshot())
        .containsExactly(
            new EndpointSnapshot(
                "a", 0, 0, 0, Double.NaN, 0, 0, 0, false, Pool.WELL, Long.MIN_VALUE),
            new EndpointSnapshot("a", 1, 1, 7, 0.5, 1, 0, 2, true, Pool.WELL, 0));

    pool.arrive("m", 1, 2);
    assertThat(pool.lastRoute().matchedBlocks()).isZero();
    pool.core.ended(0, old, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(pool.core.snapshot())
        .containsExactly(
            new EndpointSnapshot(
                "a", 1, 1, 0, Double.NaN, 1, 0, 2, false, Pool.WELL, Long.MIN_VALUE));
  }

  @Test
  void whatWasScrapedOfAFormerLifeIsNotTakenForThePresentOne() {
    EndpointMetrics full = new EndpointMetrics(7, 3, 0.9, 16, 100);
    EndpointMetrics idle = new EndpointMetrics(1, 0, 0.1, 16, 100);
    EndpointSpec spec = endpoint("a");
    EndpointSpec elsewhere = new EndpointSpec("a", "1", "10.0.0.2", 8000, Map.of());
    pool.configure().endpoints("a");
    long held = pool.arrive("m");
    pool.core.scraped(10, spec, 5, full);

    pool.core.endpoints(20, List.of());
    pool.core.endpoints(30, List.of(spec));
    assertThat(pool.snapshot("a").inFlight()).as("the same process").isEqualTo(1);
    assertThat(pool.snapshot("a").kvUsage()).as("unknown after its return").isNaN();
    pool.core.scraped(40, spec, 29, full);
    assertThat(pool.snapshot("a").kvUsage()).as("begun before its return").isNaN();
    pool.core.scraped(41, spec, 30, idle);
    assertThat(pool.snapshot("a").kvUsage()).isEqualTo(0.1);

    pool.core.ended(45, held, Outcome.COMPLETED, Usage.UNKNOWN);
    pool.core.endpoints(50, List.of(elsewhere));
    pool.core.scraped(60, spec, 55, full);
    assertThat(pool.snapshot("a").kvUsage()).as("of another address").isNaN();
    pool.core.endpoints(70, List.of(endpoint("a", "2")));
    pool.core.scraped(80, spec, 75, full);
    assertThat(pool.snapshot("a").kvUsage()).as("of another incarnation").isNaN();
    pool.core.scraped(81, endpoint("a", "2"), 75, idle);
    assertThat(pool.snapshot("a").kvUsage()).isEqualTo(0.1);
  }

  @Test
  void whatWasScrapedStaysWhenOnlyLabelsChange() {
    pool.configure().endpoints("a");
    pool.core.scraped(10, endpoint("a"), 5, new EndpointMetrics(7, 3, 0.9, 16, 100));
    pool.core.endpoints(
        20, List.of(new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of("zone", "b"))));
    assertThat(pool.snapshot("a").kvUsage()).isEqualTo(0.9);
    pool.core.scraped(30, endpoint("a"), 15, new EndpointMetrics(1, 0, 0.1, 16, 100));
    assertThat(pool.snapshot("a").kvUsage()).as("scraped under its old labels").isEqualTo(0.1);
  }

  @Test
  void refusesTwoEndpointsOfOneNameAndKeepsWhatItHad() {
    pool.configure().endpoints("a");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> pool.endpoints("b", "b"))
        .withMessageContaining("\"b\" is there twice");
    assertThat(pool.core.snapshot()).extracting(EndpointSnapshot::name).containsExactly("a");
  }

  @Test
  void unknownModelsAreStandardAndTheirOwnTarget() {
    pool.configure().endpoints("a");
    pool.arrive("nobody-knows");
    assertThat(pool.lastRoute().criticality()).isEqualTo(Criticality.STANDARD);
    assertThat(pool.lastRoute().targetModel()).isEqualTo("nobody-knows");
    pool.arrive("");
    assertThat(pool.lastRoute().criticality()).isEqualTo(Criticality.STANDARD);
    assertThat(pool.lastRoute().targetModel()).isEmpty();
  }

  @Test
  void shedsOnlyWhatIsSheddableAndOnlyWhenAllAreFull() {
    pool.configure(
            Pool.atOnce(List.of(), List.of()),
            model("critical", Criticality.CRITICAL),
            model("standard", Criticality.STANDARD),
            model("sheddable", Criticality.SHEDDABLE))
        .endpoints("full", "free");
    pool.core.scraped(0, endpoint("free"), 0, new EndpointMetrics(0, 0, 0, 16, 100));
    pool.core.scraped(0, endpoint("full"), 0, new EndpointMetrics(5, 0, 0, 16, 100));
    for (int i = 0; i < 4; i++) {
      pool.core.ended(0, pool.arrive("sheddable"), Outcome.COMPLETED, Usage.UNKNOWN);
      assertThat(pool.lastRoute().endpoint()).isEqualTo("free");
    }
    pool.core.scraped(0, endpoint("free"), 0, new EndpointMetrics(0, 0, 0.8, 16, 100));
    pool.arrive("sheddable");
    assertThat(pool.rejections)
        .containsExactly(
            new Rejection(Reason.SATURATED, Criticality.SHEDDABLE, Reason.SATURATED.message()));
    pool.arrive("standard");
    pool.arrive("critical");
    assertThat(pool.rejections).hasSize(1);
  }

  @Test
  void theObjectiveThatARequestNamesComesBeforeItsModel() {
    pool.core.configure(
        0,
        new ConfigCompiler(List.of())
            .compile(
                new PoolConfig(
                    "n",
                    "p",
                    Map.of(),
                    List.of(8000),
                    "http",
                    List.of(model("m", Criticality.SHEDDABLE)),
                    List.of(
                        new ObjectiveConfig("batch", -1),
                        new ObjectiveConfig("plain", 0),
                        new ObjectiveConfig("chat", 7)),
                    RequestsConfig.DEFAULT,
                    Pool.atOnce(List.of(), List.of()))));
    pool.endpoints("a");

    assertThat(criticality("m", Map.of())).isEqualTo(Criticality.SHEDDABLE);
    assertThat(criticality("m", Map.of("x-gateway-inference-objective", "chat")))
        .isEqualTo(Criticality.CRITICAL);
    assertThat(criticality("other", Map.of("x-gateway-inference-objective", "batch")))
        .isEqualTo(Criticality.SHEDDABLE);
    assertThat(criticality("m", Map.of("x-llm-d-inference-objective", "plain")))
        .isEqualTo(Criticality.STANDARD);
    assertThat(criticality("other", Map.of("x-llm-d-inference-objective", "none of ours")))
        .isEqualTo(Criticality.STANDARD);
    // The newer name of the header comes first.
    assertThat(
            criticality(
                "m",
                Map.of(
                    "x-llm-d-inference-objective", "plain",
                    "x-gateway-inference-objective", "chat")))
        .isEqualTo(Criticality.STANDARD);

    pool.core.scraped(0, endpoint("a"), 0, new EndpointMetrics(5, 0, 0, 16, 100));
    pool.core.arrive(0, headed("other", Map.of("x-gateway-inference-objective", "batch")), pool);
    assertThat(pool.rejections)
        .containsExactly(
            new Rejection(Reason.SATURATED, Criticality.SHEDDABLE, Reason.SATURATED.message()));
  }

  private Criticality criticality(String model, Map<String, String> headers) {
    long ticket = pool.core.arrive(0, headed(model, headers), pool);
    pool.core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    return pool.lastRoute().criticality();
  }

  private static RequestFacts headed(String model, Map<String, String> headers) {
    return RequestFactsBuilder.of(model, 1)
        .prompt(PromptSize.ofTokens(1))
        .bodyBytes(1)
        .headers(headers::get)
        .build();
  }

  @Test
  void splitsTrafficByWeight() {
    pool.configure(
            model(
                "m", Criticality.STANDARD, new TargetModel("one", 1), new TargetModel("three", 3)))
        .endpoints("a");
    for (int i = 0; i < 4000; i++) {
      pool.core.ended(0, pool.arrive("m"), Outcome.COMPLETED, Usage.UNKNOWN);
    }
    // Expectation 1000, standard deviation 27: seven of them either way.
    assertThat(pool.routes.stream().filter(r -> r.targetModel().equals("one")).count())
        .isBetween(810L, 1190L);
  }

  @Test
  void ignoresWhatIsLateOrWasNever() {
    pool.configure().endpoints("a");
    pool.core.scraped(0, endpoint("gone"), 0, EndpointMetrics.UNKNOWN);
    for (long ticket : new long[] {0, -1, 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
      pool.core.firstByte(0, ticket);
      pool.core.attemptFailed(0, ticket, Failure.DIED);
      pool.core.ended(0, ticket, Outcome.FAILED, Usage.UNKNOWN);
    }
    assertThat(pool.effects).isEmpty();
    assertThat(pool.snapshot("a").inFlight()).isZero();
  }
}
