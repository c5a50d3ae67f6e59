package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.ServerEvent.Kind;
import io.fairlead.lab.simulator.SimulationSpec.Client;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.lab.workload.Workloads.Options;
import io.fairlead.stub.engine.Imperfection;
import java.util.List;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Engines that are less than ideal, seen as a real picker sees them: nothing is lost or made. */
final class RealisticSimulationTest {

  private static final PoolSpec POOL = PoolSpec.parse("3xh100-8b+1xl4-8b");

  private static Settings settings(Client client, String perception) {
    return Settings.builder(20, 0)
        .pickers(2)
        .client(client)
        .imperfection(Imperfection.REAL)
        .perception(Perception.parse(perception))
        .build();
  }

  private static RunResult run(String policy, long seed, Settings settings, ServerEvent... faults) {
    return Simulation.run(
        new SimulationSpec(
            new TestWorkload(20, 12, 2_000, 60),
            Policy.named(policy),
            POOL,
            seed,
            settings,
            List.of(faults)));
  }

  private static RunResult seen(String policy, String perception) {
    return run(
        policy,
        5,
        settings(Client.GATEWAY, perception).toBuilder().imperfection(Imperfection.NONE).build());
  }

  private static List<String> policies() {
    return Policy.names();
  }

  private static void assertConserved(RunResult result) {
    assertThat(result.arrived()).isPositive();
    assertThat(result.completed() + result.rejected() + result.failed())
        .isEqualTo(result.arrived());
    assertThat(result.endToEndMs().count()).isEqualTo(result.completed());
    assertThat(result.ttftMs().quantile(0)).isPositive();
  }

  @ParameterizedTest
  @MethodSource("policies")
  void everyRequestEndsOnceUnderEveryPolicyAndTheSameWayForTheSameSeed(String policy) {
    for (String perception : List.of("real", "real,jitter-ms=300,metrics-ms=400")) {
      Settings settings = settings(Client.GATEWAY, perception);
      RunResult result = run(policy, 3, settings);

      assertConserved(result);
      assertThat(result.failed()).isZero();
      assertThat(run(policy, 3, settings)).isEqualTo(result);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void everyRequestEndsOnceWhateverIsWrongAndWhateverIsOnItsWayThen(Kind kind) {
    for (Client client : Client.values()) {
      for (long seed = 1; seed <= 3; seed++) {
        assertConserved(
            run(
                "cost",
                seed,
                settings(client, "real,jitter-ms=50"),
                kind.of(0, 3, 4),
                Kind.RESTART.of(1, 8.5, 0.5),
                Kind.REFUSE.of(2, 12, 1)));
      }
    }
  }

  /** A send, and the answer's way back. */
  @Test
  void theNetworkIsFeltTwice() {
    var lonely = new TestWorkload(20, 1, 1_600, 1);
    Settings settings = Settings.builder(20, 0).perception(Perception.parse("jitter-ms=5")).build();
    RunResult result =
        Simulation.run(
            new SimulationSpec(
                lonely, Policy.named("round-robin"), PoolSpec.parse("500xh100-8b"), 3, settings));

    double alone = 3.86 + 0.01836 * 1_600 + 8.19e-7 * 1_600 * 800;
    assertThat(result.ttftMs().quantile(0)).isGreaterThan(alone);
    assertThat(result.ttftMs().mean()).isCloseTo(alone + 10, Offset.offset(1.5));
  }

  @ParameterizedTest
  @CsvSource({
    "token-error=0.3, cost",
    "usage=0.1, cost",
    "cached-tokens=false, cost",
    "metrics-ms=40, weighted-223-polled",
    "jitter-ms=1, cost",
    "unstreamed=0.5, cost",
    "images=0.5, cost"
  })
  void eachOfItChangesARun(String perception, String policy) {
    assertThat(seen(policy, perception)).isNotEqualTo(seen(policy, "ideal"));
  }

  /** What a policy does not look at makes no difference to it. */
  @ParameterizedTest
  @CsvSource({"token-error=0.3", "usage=0.1", "cached-tokens=false", "metrics-ms=40", "images=0.5"})
  void whatAPolicyDoesNotLookAtChangesNothing(String perception) {
    assertThat(seen("round-robin", perception)).isEqualTo(seen("round-robin", "ideal"));
  }

  /** Nobody sees the first token of an answer in one piece, nor how long the others took. */
  @Test
  void answersInOnePieceAreInNoTimeOfTokens() {
    RunResult half = seen("round-robin", "unstreamed=0.5");
    RunResult whole = seen("round-robin", "unstreamed=1");
    RunResult streamed = seen("round-robin", "ideal");

    assertThat(half.ttftMs().count())
        .isEqualTo(half.tpotMs().count())
        .isBetween(half.completed() * 4 / 10, half.completed() * 6 / 10);
    assertThat(half.ttftMs().quantile(0.5))
        .isCloseTo(streamed.ttftMs().quantile(0.5), Percentage.withPercentage(25))
        .isLessThan(half.endToEndMs().quantile(0) / 2);
    assertThat(half.tpotMs().quantile(0)).isPositive();
    assertThat(whole.ttftMs().count()).isZero();
    assertThat(whole.endToEndMs().count()).isEqualTo(whole.completed()).isPositive();
    // What they have to keep is the sum of what tokens one by one would have to.
    assertThat(whole.goodput()).isCloseTo(streamed.goodput(), Offset.offset(0.02)).isPositive();
  }

  /** A fast server and five that are far slower: what they are is seen without a stream. */
  @ParameterizedTest
  @CsvSource({"7", "8"})
  void answersInOnePieceTellUnlikeServersApart(long seed) {
    PoolSpec pool = PoolSpec.parse("5xl4-8b+1xh100-8b*0.3");
    Settings whole =
        Settings.builder(100, 20)
            .imperfection(Imperfection.REAL)
            .perception(Perception.parse("unstreamed=1"))
            .build();
    RunResult cost = run("mixed-shared", 0.229, "cost", pool, whole, seed);
    RunResult peer = run("mixed-shared", 0.229, "weighted", pool, whole, seed);

    assertThat(cost.endToEndMs().mean()).isLessThan(0.6 * peer.endToEndMs().mean());
  }

  private static RunResult run(
      String workload, double load, String policy, PoolSpec pool, Settings settings, long seed) {
    return Simulation.run(
        new SimulationSpec(
            Workloads.named(workload, Options.times(load)),
            Policy.named(policy),
            pool,
            seed,
            settings,
            List.of()));
  }

  @Test
  void noisyEnginesServeTheSameInAnotherTime() {
    Settings ideal = Settings.of(20, 0);
    RunResult noisy =
        run("round-robin", 5, ideal.toBuilder().imperfection(Imperfection.REAL).build());
    RunResult plain = run("round-robin", 5, ideal);

    assertConserved(noisy);
    assertThat(noisy.endToEndMs().mean()).isGreaterThan(plain.endToEndMs().mean());
    assertThat(noisy.endToEndMs().mean()).isLessThan(plain.endToEndMs().mean() * 1.5);
  }
}
