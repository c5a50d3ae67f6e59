package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.lab.simulator.SimulationSpec.Front;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workload;
import io.fairlead.lab.workload.Workloads;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers and pickers that come and go in the course of a run. */
final class ScenarioSimulationTest {

  private static final Workload STEADY = new TestWorkload(50, 20, 500, 30);
  private static final Policy COST = Policy.named("cost");
  private static final Settings ONE_PICKER = Settings.of(60, 0);

  private static RunResult run(Workload workload, Policy policy, Settings settings, String events) {
    return Simulation.run(
        new SimulationSpec(
            workload,
            policy,
            PoolSpec.parse("4xh100-8b"),
            7,
            settings,
            Scenario.line(events).events(60)));
  }

  private static RunResult run(String events) {
    return run(STEADY, COST, ONE_PICKER, events);
  }

  private static void nothingIsLost(RunResult result) {
    assertThat(result.arrived()).isGreaterThan(2_500);
    assertThat(result.completed()).isEqualTo(result.arrived());
  }

  private static double sent(RunResult result, int server, double from, double to) {
    TimeSeries sends = result.disruption().sends();
    double sum = 0;
    for (int i = 0; i < sends.lines().get(server).values().size(); i++) {
      double at = (i + 0.5) * sends.stepSeconds();
      sum += at > from && at < to ? sends.lines().get(server).values().get(i) : 0;
    }
    return sum;
  }

  @Test
  void aServerThatJoinsGetsRequestsFromThenOn() {
    RunResult result = run("kind=join,at=20s");

    nothingIsLost(result);
    assertThat(sent(result, 4, 0, 20)).isZero();
    assertThat(sent(result, 4, 20, 60)).isGreaterThan(100);
    assertThat(result.load().lines()).hasSize(5);
  }

  @Test
  void aServerThatLeavesFinishesWhatItHasAndIsUsedWhenItIsBack() {
    RunResult result = run("kind=leave,server=1,at=20s,for=20s");

    nothingIsLost(result);
    assertThat(sent(result, 1, 0, 20)).isPositive();
    assertThat(sent(result, 1, 20, 40)).isZero();
    assertThat(sent(result, 1, 40, 60)).isPositive();
  }

  @Test
  void aPoolThatIsScaledUsesThoseThatAreThere() {
    RunResult result = run("kind=scale,servers=6,at=20s;kind=scale,servers=2,at=40s");

    nothingIsLost(result);
    assertThat(sent(result, 5, 20, 40)).isPositive();
    for (int server = 2; server < 6; server++) {
      assertThat(sent(result, server, 40, 60)).as("server %d", server).isZero();
    }
    assertThat(sent(result, 0, 40, 60)).isPositive();
  }

  @Test
  void aPoolOfNobodyServesNobodyUntilSomebodyComes() {
    RunResult result = run("kind=scale,servers=0,at=20s;kind=scale,servers=1,at=40s");

    assertThat(result.completed() + result.rejected() + result.failed())
        .isEqualTo(result.arrived());
    assertThat(result.failed() + result.rejected()).isPositive();
    assertThat(sent(result, 4, 40, 60)).isGreaterThan(500);
  }

  @Test
  void theFirstRequestOfANewServerIsHeldUpAndNoOther() {
    double held = run("kind=join,at=20s,firstRequest=12s").endToEndMs().quantile(1);
    RunResult plain = run("kind=join,at=20s");

    assertThat(held).isBetween(12_000.0, 12_000 + 2 * plain.endToEndMs().quantile(1));
    RunResult result = run("kind=join,at=20s,firstRequest=12s");
    nothingIsLost(result);
    assertThat(result.endToEndMs().quantile(0.99))
        .isLessThan(2 * plain.endToEndMs().quantile(0.99));
  }

  @Test
  void whatServersHadCachedIsLostAndComesAgain() {
    Workload groups = Workloads.named("mixed-shared", Workloads.Options.times(0.3));
    double kept = run(groups, COST, ONE_PICKER, "kind=slow,server=0,factor=1").hitRate();
    double lost = run(groups, COST, ONE_PICKER, "kind=reset-cache,server=0-3,at=30s").hitRate();
    double always =
        run(groups, COST, ONE_PICKER, "kind=reset-cache,server=0-3,every=500ms").hitRate();

    assertThat(lost).isLessThan(kept - 0.01);
    assertThat(always).isLessThan(lost - 0.1);
  }

  @ParameterizedTest
  @EnumSource(Front.class)
  void nothingIsLostWhenPickersRestart(Front front) {
    Settings settings =
        Settings.builder(60, 0)
            .pickers(3)
            .front(front)
            .client(SimulationSpec.Client.EXT_PROC)
            .build();
    RunResult result =
        run(
            STEADY,
            COST,
            settings,
            "kind=restart-picker,picker=0,at=10s;kind=restart-picker,picker=1,at=20s,for=15s;"
                + "kind=restart-picker,picker=2,at=25s,for=5s");

    nothingIsLost(result);
  }

  @Test
  void nothingIsLostWhenPickersRestartThatTellOneAnother() {
    Settings telling = telling(60, 0, 3);
    String restarts =
        "kind=restart-picker,picker=0,at=10s;kind=restart-picker,picker=1,at=20s,for=15s";
    RunResult result = run(STEADY, COST, telling, restarts);

    nothingIsLost(result);
    assertThat(run(STEADY, COST, telling, restarts)).as("the same seed").isEqualTo(result);
  }

  @Test
  void aPickerThatRestartsHasForgottenWhereWhatIs() {
    Workload groups = Workloads.named("mixed-shared", Workloads.Options.times(0.3));
    String none = "kind=slow,server=0,factor=1";
    double kept = run(groups, COST, ONE_PICKER, none).hitRate();
    double forgot =
        run(groups, COST, ONE_PICKER, "kind=restart-picker,picker=0,every=2s").hitRate();

    assertThat(forgot).isLessThan(kept - 0.01);
  }

  /**
   * The picker before it has hundreds under way, of prompts that share what the new one doesn't
   * know of: servers would be taken for full.
   */
  @Test
  void aPickerThatTakesOverRefusesNobodyWhileThereIsRoom() {
    RunResult result =
        Simulation.run(
            new SimulationSpec(
                Workloads.named("b2b", Workloads.Options.times(1.5)),
                COST,
                PoolSpec.parse("8xh100x2-32b"),
                93,
                telling(130, 60, 1),
                Scenario.line("kind=restart-picker,picker=0,at=80s").events(130)));

    assertThat(result.rejected()).isZero();
    assertThat(result.ttftMs().quantile(0.99)).isLessThan(1_000);
  }

  /** Told by its pool or by its config, it does the same. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void pickersKnowHowManyTheyAre(int pickers) {
    Workload chats = Workloads.named("sharegpt-low-hit", Workloads.Options.times(0.2));
    Settings settings = ONE_PICKER.toBuilder().pickers(pickers).build();
    String none = "kind=slow,server=0,factor=1";
    RunResult told = run(chats, cost(Map.of()), settings, none);

    assertThat(run(chats, cost(Map.of("replicas", (long) pickers)), settings, none))
        .isEqualTo(told);
    assertThat(run(chats, cost(Map.of("replicas", 4L - pickers)), settings, none))
        .isNotEqualTo(told);
  }

  @Test
  void pickersKnowWhenTheyAreFewer() {
    Workload chats = Workloads.named("sharegpt-low-hit", Workloads.Options.times(0.2));
    String gone = "kind=restart-picker,picker=0,at=1s;kind=restart-picker,picker=1,at=1s,for=50s";
    Settings two = ONE_PICKER.toBuilder().pickers(2).build();

    assertThat(run(chats, cost(Map.of("replicas", 2L)), two, gone))
        .isNotEqualTo(run(chats, cost(Map.of()), two, gone));
  }

  /** Pickers that tell one another what they send. */
  private static Settings telling(double seconds, double warmUp, int pickers) {
    return Settings.builder(seconds, warmUp)
        .pickers(pickers)
        .following(true)
        .client(SimulationSpec.Client.EXT_PROC)
        .build();
  }

  private static Policy cost(Map<String, Object> parameters) {
    return new Policy(
        "cost",
        new SchedulerConfig(
            List.of(new PluginConfig("work-cost", "work-cost", parameters)), List.of(), null));
  }
}
