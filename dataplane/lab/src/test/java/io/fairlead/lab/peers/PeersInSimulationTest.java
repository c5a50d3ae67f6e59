package io.fairlead.lab.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.Policy;
import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.Simulation;
import io.fairlead.lab.simulator.SimulationSpec;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workloads;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The peers on the scheduler's own core, with prompts, accounts and completions that it makes. */
class PeersInSimulationTest {

  private static RunResult run(String policy, String workload) {
    return Simulation.run(
        new SimulationSpec(
            Workloads.named(workload, Workloads.Options.DEFAULT),
            Policy.named(policy),
            PoolSpec.parse("8xh100-8b"),
            1,
            Settings.of(60, 15)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sglang",
        "dynamo",
        "preble",
        "aibrix",
        "aibrix-preble",
        "kubeai",
        "consistent-hash",
        "llm-d-default",
        "sticky",
        "latency-oracle",
        "in-flight"
      })
  void whoGoesByPrefixesFindsThemAndTurnsNobodyAway(String policy) {
    for (String workload : new String[] {"chat", "rag"}) {
      RunResult result = run(policy, workload);
      assertThat(result.completed()).as(workload).isEqualTo(result.arrived()).isPositive();
      assertThat(result.hitRate())
          .as("%s's hit rate on %s", policy, workload)
          .isGreaterThan(1.3 * run("round-robin", workload).hitRate());
    }
  }

  /** Of two, the one with fewer: more even than any one of them. */
  @ParameterizedTest
  @ValueSource(strings = {"chat", "rag"})
  void twoChoicesAreMoreEvenThanOne(String workload) {
    RunResult result = run("power-of-two", workload);

    assertThat(result.completed()).isEqualTo(result.arrived()).isPositive();
    assertThat(result.maxOverMeanLoad()).isLessThan(run("random", workload).maxOverMeanLoad());
  }

  @ParameterizedTest
  @ValueSource(strings = {"kubeai", "consistent-hash"})
  void boundedLoadsAreBounded(String policy) {
    assertThat(run(policy, "rag").maxOverMeanLoad()).isLessThan(1.25);
  }
}
