package io.fairlead.cli.simulate;

import io.fairlead.lab.simulator.Policy;
import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.SimulationSpec;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import java.util.ArrayList;
import java.util.List;

/**
 * What the gate runs: the shipped profiles on workloads that show, each in its own way, what goes
 * wrong when scheduling does.
 */
final class GateMatrix {

  private static final List<String> BOTH = List.of("cost", "weighted");
  private static final int SEEDS = 2;

  private static final List<Entry> ENTRIES =
      List.of(
          new Entry("chat", 240, BOTH),
          new Entry("b2b", 360, BOTH),
          new Entry("rag", 360, BOTH),
          new Entry("bursty", 60, BOTH),
          new Entry("mixed-shared", 120, BOTH),
          // The other one is overloaded there: any change of anything moves it by more than 3 %.
          new Entry("lora-32", 60, List.of("cost")));

  private GateMatrix() {}

  /** A workload, for how many simulated seconds, and under which policies. */
  private record Entry(String workload, double seconds, List<String> policies) {}

  /** The runs, under the run options given: a handicap or a fault, say. */
  static List<SimulationSpec> specs(RunOptions options) {
    List<SimulationSpec> specs = new ArrayList<>();
    for (Entry entry : ENTRIES) {
      LoadedWorkload loaded = LoadedWorkload.of(entry.workload());
      Settings settings = options.settings(loaded.preset()).lasting(entry.seconds());
      for (String policy : entry.policies()) {
        for (long seed = 1; seed <= SEEDS; seed++) {
          specs.add(
              new SimulationSpec(
                  loaded.workload(),
                  Policy.named(policy),
                  PoolSpec.parse(loaded.preset().pool()),
                  seed,
                  settings,
                  options.faults(entry.seconds())));
        }
      }
    }
    return specs;
  }
}
