package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Preset;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.lab.workload.Workloads.Options;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the default config does where more comes than can be served, on seeds of its own. */
class OverloadTest {

  private static RunResult run(String workload, double load, double seconds, long seed) {
    return run(workload, load, "cost", Settings.of(seconds, seconds / 3), seed);
  }

  private static RunResult run(
      String workload, double load, String policy, Settings settings, long seed) {
    Preset preset = Workloads.preset(workload);
    Scenario scenario =
        preset.scenario().isEmpty() ? Scenario.NONE : Scenario.named(preset.scenario());
    return Simulation.run(
        new SimulationSpec(
            Workloads.named(workload, Options.times(load)),
            Policy.named(policy),
            PoolSpec.parse(preset.pool()),
            seed,
            settings,
            scenario.events(settings.seconds())));
  }

  private static RunResult fromZero(String policy, long seed) {
    return run("scale-from-zero", 1, policy, Settings.of(90, 0), seed);
  }

  private static List<Flow> of(RunResult run, String model) {
    return run.flows().stream().filter(flow -> flow.name().startsWith(model)).toList();
  }

  private static void assertAllWell(RunResult run, String model) {
    assertThat(of(run, model))
        .as("%s under %s", model, run.workload())
        .isNotEmpty()
        .allSatisfy(
            flow -> {
              assertThat(flow.rejected()).isZero();
              assertThat(flow.good()).isGreaterThanOrEqualTo(flow.arrived() * 97 / 100);
            });
  }

  @ParameterizedTest
  @ValueSource(longs = {101, 102})
  void asManyAreServedInTimeHoweverManyCome(long seed) {
    double served = run("priority", 1, 60, seed).goodPerSecond();
    assertThat(served).isGreaterThan(150);
    for (double load : new double[] {1.25, 1.5, 2, 3}) {
      assertThat(run("priority", load, 60, seed).goodPerSecond())
          .as("at %s times the load", load)
          .isGreaterThanOrEqualTo(0.95 * served);
    }
  }

  /** Answers that grow for minutes fill caches long after they were let in. */
  @ParameterizedTest
  @ValueSource(longs = {101, 102})
  void asManyLongAnswersAreServedInTimeHoweverManyCome(long seed) {
    double served = run("reasoning", 1, 900, seed).goodPerSecond();
    for (double load : new double[] {1.5, 2}) {
      assertThat(run("reasoning", load, 900, seed).goodPerSecond())
          .as("at %s times the load", load)
          .isGreaterThanOrEqualTo(0.95 * served);
    }
  }

  /** Where more conversations are open than caches hold, each request drives out the next. */
  @ParameterizedTest
  @ValueSource(longs = {101, 102})
  void asManyConversationsAreFinishedInTimeHoweverManyBegin(long seed) {
    double served = run("agent", 1, 900, seed).goodPerSecond();
    for (double load : new double[] {1.5, 2}) {
      assertThat(run("agent", load, 900, seed).goodPerSecond())
          .as("at %s times the load", load)
          .isGreaterThanOrEqualTo(0.95 * served);
    }
  }

  /** Batches have room, slots have not: that is no reason to turn away whose adapter has one. */
  @ParameterizedTest
  @CsvSource({"101, 0.25, cost", "102, 0.1, cost", "103, 0.25, weighted"})
  void moreAdaptersThanSlotsKeepNoServerIdle(long seed, double load, String policy) {
    RunResult run = onTwo("lora-32", load, policy, seed);
    RunResult open = onTwo("lora-32", load, "cost-no-queue", seed);
    assertThat(run.goodPerSecond()).isGreaterThan(open.goodPerSecond());
    assertThat(run.requestsPerSecond()).isGreaterThan(0.75 * open.requestsPerSecond());
    assertThat(run.ttftMs().quantile(0.99)).isLessThan(0.55 * open.ttftMs().quantile(0.99));
  }

  /** There are more adapters than slots, and yet no more requests come than can be served. */
  @ParameterizedTest
  @CsvSource({"101, lora-32, 0.04", "102, lora-32, 0.05", "103, lora-64, 0.03"})
  void turnsOfAdaptersAreNoOverload(long seed, String workload, double load) {
    RunResult run = onTwo(workload, load, "cost", seed);
    RunResult open = onTwo(workload, load, "cost-no-queue", seed);
    assertThat(run.rejected()).isLessThanOrEqualTo(run.arrived() / 200);
    assertThat(run.ttftMs().quantile(0.99)).isLessThan(1.1 * open.ttftMs().quantile(0.99));
  }

  private static RunResult onTwo(String workload, double load, String policy, long seed) {
    return Simulation.run(
        new SimulationSpec(
            Workloads.named(workload, Options.times(load)),
            Policy.named(policy),
            PoolSpec.parse("2xh100-8b"),
            seed,
            Settings.of(90, 30),
            List.of()));
  }

  @ParameterizedTest
  @ValueSource(longs = {101, 102})
  void whatIsCriticalIsServedAndWhatIsSheddableHasItsFloor(long seed) {
    RunResult run = run("overload-2x", 1, 150, seed);
    assertAllWell(run, "critical");
    assertThat(of(run, "sheddable")).allMatch(flow -> flow.completed() > flow.arrived() / 50);
    assertThat(of(run, "sheddable")).allMatch(flow -> flow.rejected() > flow.arrived() / 2);
  }

  /**
   * From ten seconds after the load has tripled on: engines have shown how many seats they have.
   */
  @ParameterizedTest
  @ValueSource(longs = {101, 102})
  void whatIsCriticalWaitsForNoSeat(long seed) {
    RunResult run = run("overload-2x", 1, "cost", Settings.of(150, 70), seed);
    RunResult calm = run("priority", 0.8, 60, seed);
    assertThat(of(run, "critical").getFirst().ttftP99Ms())
        .isLessThan(1.5 * of(calm, "critical").getFirst().ttftP99Ms());
  }

  /** For a minute nobody is served: what waited is served then, the critical first. */
  @ParameterizedTest
  @ValueSource(longs = {101, 102})
  void whatWaitsForServersIsServedOnceTheyCome(long seed) {
    RunResult refusing = fromZero("cost", seed);
    RunResult holding = fromZero("cost-hold", seed);
    assertThat(refusing.completed()).isLessThan(refusing.arrived() / 2);
    for (String model : List.of("critical", "standard")) {
      assertThat(of(holding, model))
          .as(model)
          .isNotEmpty()
          .allMatch(flow -> flow.completed() == flow.arrived());
    }
    assertThat(holding.completed()).isGreaterThan(refusing.completed() * 3 / 2);
  }

  @ParameterizedTest
  @ValueSource(longs = {101, 102})
  void aNoisyNeighbourHarmsNobodyWhoAsksForLessThanItsShare(long seed) {
    RunResult run = run("noisy-neighbour", 1, 90, seed);
    assertAllWell(run, "quiet");
    assertThat(of(run, "noisy")).allMatch(flow -> flow.rejected() > 0);
    RunResult calm = run("priority", 0.8, 60, seed);
    assertThat(of(run, "quiet"))
        .as("the noisy one leaves room")
        .allMatch(flow -> flow.ttftP99Ms() < 1.5 * of(calm, "critical").getFirst().ttftP99Ms());
  }

  @ParameterizedTest
  @ValueSource(longs = {101, 102})
  void workThatCanBeDroppedDoesNotFillServersBeforeWhatIsCritical(long seed) {
    assertAllWell(run("priority-inversion", 1, 120, seed), "critical");
    assertAllWell(run("mixed-slo", 1, 120, seed), "chat");
  }

  /** All that the pool can serve is served, and nobody waits. */
  @ParameterizedTest
  @ValueSource(strings = {"sharegpt-low-hit", "bursty", "chat", "rag", "lora-32", "mixed-shared"})
  void belowItNobodyIsTurnedAway(String workload) {
    RunResult run = run(workload, 1, 60, 103);
    assertThat(run.rejected()).isZero();
    assertThat(run.completed()).isEqualTo(run.arrived());
  }

  /** Of answers in one piece nobody sees a first token: that holds nobody back either. */
  @ParameterizedTest
  @ValueSource(strings = {"sharegpt-low-hit", "priority", "chat", "rag"})
  void belowItNobodyIsTurnedAwayWhoseAnswerComesInOnePiece(String workload) {
    Settings settings =
        Settings.builder(60, 20).perception(Perception.IDEAL.withUnstreamed(1)).build();
    RunResult run = run(workload, 1, "cost", settings, 103);
    assertThat(run.rejected()).isZero();
    assertThat(run.completed()).isEqualTo(run.arrived());
  }

  /**
   * Beside a long prompt nobody ends for a second or two, and some wait: these are not the seats.
   */
  @ParameterizedTest
  @CsvSource({"101, 8", "102, 8", "103, 12"})
  void aLongPromptNowAndThenClosesNoGate(long seed, double load) {
    String document =
        """
        load: %s
        requests:
          question: {shape: either, usual: 600, rare: 40000, share: %s}
          answer: {shape: exponential, mean: 250, most: 4000}
        """
            .formatted(load + 0.1, 0.1 / load);
    RunResult run =
        Simulation.run(
            new SimulationSpec(
                Workloads.read("long prompts beside chat", "test", document, 1).workload(),
                Policy.named("cost"),
                PoolSpec.parse("1xh100-8b"),
                seed,
                Settings.of(600, 0),
                List.of()));
    // Several long prompts in a row hold up whoever stands behind them, whatever the seats.
    assertThat(run.rejected()).isLessThanOrEqualTo(run.arrived() / 500);
    assertThat(run.completed() + run.rejected()).isEqualTo(run.arrived());
  }
}
