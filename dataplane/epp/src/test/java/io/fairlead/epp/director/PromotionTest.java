package io.fairlead.epp.director;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Learned;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.ShadowConfig;
import io.fairlead.epp.PlainPool;
import io.fairlead.epp.shadow.Shadows.ShadowedRequest;
import io.fairlead.epp.telemetry.Telemetry;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The scheduling in force and that of a shadow change places: what they have learned stays. */
class PromotionTest {

  private static final long MILLISECOND = 1_000_000;

  /** Of the numbers that are of an endpoint. */
  private static final int DECODES_SEEN = 1;

  private static final SchedulerConfig COST = scheduler("work-cost", Map.of());
  private static final SchedulerConfig OTHER_COST = scheduler("work-cost", Map.of("omega", 2L));
  private static final SchedulerConfig WEIGHTED = scheduler("queue-scorer", Map.of());

  private final ConfigCompiler compiler = new ConfigCompiler(List.of());
  private final PoolCore core = new PoolCore();
  private long now = 1;
  private final PoolLoop pool =
      new PoolLoop(core, ImmediateEventExecutor.INSTANCE, () -> now, new Telemetry(() -> now));
  private @Nullable CompiledConfig active;

  private static SchedulerConfig scheduler(String type, Map<String, Object> parameters) {
    return new SchedulerConfig(List.of(new PluginConfig(type, type, parameters)), List.of(), null);
  }

  private static EndpointSpec endpoint(String name, String incarnation) {
    return new EndpointSpec(name, incarnation, "10.0.0.1", 8000, Map.of());
  }

  @BeforeEach
  void endpoints() {
    pool.endpoints(List.of(endpoint("a", "1"), endpoint("b", "1"))).syncUninterruptibly();
  }

  @AfterEach
  void stop() {
    pool.shadows().close();
  }

  /** The name of the shadow may be that of its scheduling. */
  private void configure(SchedulerConfig real, String name, SchedulerConfig tried) {
    CompiledConfig next =
        compiler.compile(
            PlainPool.config(real).withShadows(List.of(new ShadowConfig(name, tried))), active);
    active = next;
    pool.configure(next).syncUninterruptibly();
  }

  private static RequestFacts request() {
    return new RequestFacts("m", 1, new long[] {1, 2, 3}, 4_000, -1, 16_000);
  }

  private static Usage usage() {
    return new Usage(4_000, 70, 0);
  }

  /** A real request, of which the answer is slow. */
  private void serve() {
    long ticket = core.arrive(now, request(), new Nobody());
    now += 3_000 * MILLISECOND;
    core.firstByte(now, ticket);
    now += 2_000 * MILLISECOND;
    core.ended(now, ticket, Outcome.COMPLETED, usage());
  }

  /** Another scheduling sends a request, and shadows are told. */
  private void serveBesideShadows() {
    ShadowedRequest told =
        Objects.requireNonNull(
            pool.shadows()
                .sent(
                    now,
                    request(),
                    new Route("m", Criticality.STANDARD, "a", "10.0.0.1", 8000, 0, 4_000)));
    now += 3_000 * MILLISECOND;
    told.firstByte(now);
    now += 2_000 * MILLISECOND;
    told.ended(now, Outcome.COMPLETED, usage());
    pool.shadows().tick(now);
  }

  private static Map<String, double[]> general(List<Learned> learned) {
    return learned.isEmpty() ? Map.of() : learned.getFirst().general();
  }

  private static double[] of(String endpoint, List<Learned> learned) {
    return learned.getFirst().endpoints().stream()
        .filter(one -> one.endpoint().name().equals(endpoint))
        .findFirst()
        .orElseThrow()
        .numbers();
  }

  private void awaitShadowKnows(Map<String, double[]> general) {
    await()
        .untilAsserted(
            () ->
                assertThat(general(pool.shadows().learned()))
                    .usingRecursiveComparison()
                    .isEqualTo(general));
  }

  @Test
  void whatRealRequestsHaveTaughtGoesAlongAndComesBack() {
    configure(COST, "tried", WEIGHTED);
    List<Learned> before = core.learned(now);
    for (int i = 0; i < 20; i++) {
      serve();
    }
    List<Learned> learned = core.learned(now);
    assertThat(general(learned)).containsKey("output/m").isNotEqualTo(general(before));

    configure(WEIGHTED, "tried", COST);
    assertThat(core.learned(now)).isEmpty();
    awaitShadowKnows(general(learned));
    // A shadow of another name is another one, and begins with it too.
    configure(WEIGHTED, "cost", COST);
    awaitShadowKnows(general(learned));

    configure(COST, "weighted", WEIGHTED);
    List<Learned> back = core.learned(now);
    assertThat(general(back)).usingRecursiveComparison().isEqualTo(general(learned));
    assertThat(of("a", back)).isEqualTo(of("a", learned));
    assertThat(of("b", back)).isEqualTo(of("b", learned));
  }

  @Test
  void aShadowThatIsPromotedForTheFirstTimeBringsWhatItHasLearned() {
    configure(WEIGHTED, "tried", COST);
    for (int i = 0; i < 20; i++) {
      serveBesideShadows();
    }
    await().until(() -> general(pool.shadows().learned()).containsKey("output/m"));
    configure(COST, "tried", WEIGHTED);
    assertThat(general(core.learned(now))).containsKey("output/m");
  }

  @Test
  void nothingIsTakenByOneOfOtherParametersOrOfAnotherProcess() {
    configure(COST, "tried", WEIGHTED);
    List<Learned> nothing = core.learned(now);
    for (int i = 0; i < 20; i++) {
      serve();
    }
    List<Learned> learned = core.learned(now);
    configure(OTHER_COST, "tried", WEIGHTED);
    assertThat(general(core.learned(now))).usingRecursiveComparison().isEqualTo(general(nothing));

    pool.endpoints(List.of(endpoint("a", "2"), endpoint("b", "1"))).syncUninterruptibly();
    configure(COST, "tried", WEIGHTED);
    List<Learned> back = core.learned(now);
    assertThat(general(back)).containsKey("output/m");
    assertThat(of("a", learned)[DECODES_SEEN]).isPositive();
    assertThat(of("a", back)[DECODES_SEEN]).isZero();
  }

  /** Who is told of what becomes of a request. */
  private static final class Nobody implements RequestListener {

    @Override
    public void send(long request, Route route) {}

    @Override
    public void pass(long request) {}

    @Override
    public void reject(long request, Rejection rejection) {}
  }
}
