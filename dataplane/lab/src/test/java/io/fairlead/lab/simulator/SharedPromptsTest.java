package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workloads;
import org.junit.jupiter.api.Test;

/** Prompts that share beginnings without being conversations, beside {@code weighted}. */
final class SharedPromptsTest {

  /** Three quarters of the files fit into the caches: each copy drives out another one. */
  private static final String FILES =
      """
      load: 42
      pool: 4xh100-8b
      groups:
        count: 400
        system: 6000
        question: 60
        answer: {shape: exponential, mean: 25, least: 1, most: 200}
        questions: 8
      """;

  /** Half of each prompt is shared; twice as many come as can be served. */
  private static final String LABELS =
      """
      load: 138
      pool: 10xl4-8b
      groups:
        count: 25
        system: 400
        question: {shape: exponential, mean: 400}
        answer: 1
      """;

  /** All begin with the same instructions, which the first of them bring to one server. */
  private static final String TOOLS =
      """
      load: 0.25
      pool: 6xh100-8b
      sessions:
        system: 4000
        context: 2000
        question: {shape: exponential, mean: 800}
        answer: {shape: exponential, mean: 150}
        turns: {shape: geometric, mean: 40}
        thinkSeconds: {shape: exponential, mean: 1.5}
      """;

  @Test
  void whatDoesNotFitIsNotKeptTwice() {
    Settings minute = Settings.of(60, 15);
    RunResult weighted = run("weighted", FILES, minute);
    RunResult cost = run("cost", FILES, minute);

    assertThat(cost.hitRate()).isGreaterThan(weighted.hitRate() - 0.02);
    assertThat(cost.endToEndMs().mean()).isLessThan(1.06 * weighted.endToEndMs().mean());
  }

  @Test
  void noCacheIsWorthALineOfAnyLength() {
    RunResult weighted = run("weighted", LABELS, Settings.of(30, 5));
    RunResult cost = run("cost", LABELS, Settings.of(30, 5));

    assertThat(cost.mostInQueue()).isLessThanOrEqualTo(12);
    assertThat(cost.goodput()).isGreaterThan(0.95 * weighted.goodput());
  }

  @Test
  void instructionsThatAllShareLeaveNoServerUnused() {
    Settings minutes = Settings.of(240, 60);
    RunResult weighted = run("weighted", TOOLS, minutes);
    RunResult cost = run("cost", TOOLS, minutes);

    assertThat(cost.maxOverMeanLoad()).isLessThan(1.6);
    assertThat(cost.endToEndMs().mean()).isLessThan(0.8 * weighted.endToEndMs().mean());
    assertThat(cost.hitRate()).isGreaterThan(weighted.hitRate());
  }

  private static RunResult run(String policy, String workload, Settings settings) {
    Workloads.Own own = Workloads.read("own", "own.yaml", workload, 1);
    return Simulation.run(
        new SimulationSpec(
            own.workload(),
            Policy.named(policy),
            PoolSpec.parse(own.preset().pool()),
            1,
            settings));
  }
}
