package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.lab.simulator.SimulationSpec.Front;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workload;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class SimulationTest {

  private static final PoolSpec POOL = PoolSpec.parse("3xh100-8b+1xl4-8b");
  private static final Workload BUSY = new TestWorkload(20, 12, 4_000, 60);

  private static RunResult run(String policy, Settings settings) {
    return Simulation.run(new SimulationSpec(BUSY, Policy.named(policy), POOL, 7, settings));
  }

  private static List<String> policies() {
    return Policy.names();
  }

  @ParameterizedTest
  @MethodSource("policies")
  void everyRequestIsServedOrTurnedAway(String policy) {
    RunResult result = run(policy, Settings.of(20, 0));

    assertThat(result.arrived()).isBetween(300L, 500L);
    assertThat(result.completed() + result.rejected()).isEqualTo(result.arrived());
    assertThat(result.ttftMs().count()).isEqualTo(result.completed());
    assertThat(result.promptTokens()).isEqualTo(result.completed() * 4_000);
    assertThat(result.cachedTokens()).isPositive().isLessThan(result.promptTokens() / 2);
    assertThat(result.load().lines()).hasSize(4);
  }

  @ParameterizedTest
  @MethodSource("policies")
  void sameSeedSameResult(String policy) {
    assertThat(run(policy, Settings.of(10, 2))).isEqualTo(run(policy, Settings.of(10, 2)));
  }

  /** No endpoint is faster than its engine: an empty pool answers in the time of its two steps. */
  @Test
  void anIdlePoolTakesTheTimeOfItsEngine() {
    var lonely = new TestWorkload(0.1, 1, 1_600, 1);
    RunResult result =
        Simulation.run(
            new SimulationSpec(
                lonely,
                Policy.named("round-robin"),
                PoolSpec.parse("50xh100-8b"),
                3,
                Settings.of(200, 0)));

    double alone = 3.86 + 0.01836 * 1_600 + 8.19e-7 * 1_600 * 800;
    assertThat(result.completed()).isBetween(10L, 40L);
    assertThat(result.ttftMs().quantile(0)).isCloseTo(alone, within(1e-3));
    assertThat(result.ttftMs().quantile(1)).isCloseTo(alone, within(1e-3));
    assertThat(result.endToEndMs().mean()).isCloseTo(alone, within(1e-3));
  }

  private static Offset<Double> within(double offset) {
    return Offset.offset(offset);
  }

  @Test
  void affinityFindsMoreInTheCacheThanRoundRobin() {
    assertThat(run("cost", Settings.of(30, 5)).hitRate())
        .isGreaterThan(run("round-robin", Settings.of(30, 5)).hitRate());
  }

  @Test
  void lostHitsAreLost() {
    Settings plain = Settings.of(30, 5);
    Settings handicapped = plain.toBuilder().lostHits(0.5).build();

    assertThat(run("cost", handicapped).hitRate())
        .isBetween(run("cost", plain).hitRate() * 0.3, run("cost", plain).hitRate() * 0.7);
  }

  @Test
  void severalPickersShareThePool() {
    Settings three = Settings.builder(20, 2).pickers(3).front(Front.HASHED).labelled(true).build();

    RunResult result = run("cost", three);

    assertThat(result.completed()).isEqualTo(result.arrived()).isPositive();
  }

  @Test
  void arrivalsOfTheWarmUpAreNotCounted() {
    RunResult whole = run("cost", Settings.of(20, 0));
    RunResult half = run("cost", Settings.of(20, 10));

    assertThat(half.arrived()).isBetween(whole.arrived() / 3, whole.arrived() * 2 / 3);
    assertThat(half.measuredSeconds()).isLessThan(whole.measuredSeconds() - 9);
  }

  @Test
  void aRequestThatNoEngineHoldsIsTurnedAway() {
    var huge = new TestWorkload(1, 1, 40_000, 10);
    RunResult result =
        Simulation.run(
            new SimulationSpec(
                huge, Policy.named("cost"), PoolSpec.parse("2xl4-8b"), 1, Settings.of(10, 0)));

    assertThat(result.rejected()).isEqualTo(result.arrived()).isPositive();
  }

  @Test
  void settingsOutOfRangeAreRefusedByName() {
    assertThatThrownBy(() -> Settings.of(10, 11))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("warmUpSeconds is 11.0; set 0.0 to 10.0");
  }
}
