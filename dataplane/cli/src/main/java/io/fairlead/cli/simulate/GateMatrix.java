package io.fairlead.cli.simulate;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.lab.simulator.Policy;
import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.SimulationSpec;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What the gate runs: the shipped profiles on workloads that show, each in its own way, what goes
 * wrong when scheduling does.
 */
final class GateMatrix {

  private static final List<Policy> COST = List.of(Policy.named("cost"));
  private static final List<Policy> BOTH = List.of(Policy.named("cost"), Policy.named("weighted"));

  /** Told that the hardware is of a class that is some ten times slower. */
  private static final Policy WRONG_PRIOR =
      new Policy(
          "cost-wrong-prior",
          new SchedulerConfig(
              List.of(new PluginConfig("work-cost", "work-cost", Map.of("engineClass", "8b-l4"))),
              List.of(),
              null));

  private static final int SEEDS = 2;

  private static final List<Entry> ENTRIES =
      List.of(
          new Entry("chat", 240, BOTH),
          new Entry("chat@0.5", 120, List.of(WRONG_PRIOR)),
          new Entry("b2b", 360, BOTH),
          // More than caches hold if a tenant's prompt is in two of them.
          new Entry("b2b@1.5", 240, BOTH),
          new Entry("rag", 360, BOTH),
          new Entry("bursty", 60, BOTH),
          new Entry("mixed-shared", 120, BOTH),
          // The other one is overloaded there: any change of anything moves it by more than 3 %.
          new Entry("lora-32", 60, COST));

  private GateMatrix() {}

  /** A workload, for how many simulated seconds, and under which policies. */
  private record Entry(String workload, double seconds, List<Policy> policies) {}

  /** The runs, under the run options given: a handicap or a fault, say. */
  static List<SimulationSpec> specs(RunOptions options) {
    List<SimulationSpec> specs = new ArrayList<>();
    for (Entry entry : ENTRIES) {
      LoadedWorkload loaded = LoadedWorkload.of(entry.workload());
      Settings settings = options.settings(loaded.preset()).lasting(entry.seconds());
      for (Policy policy : entry.policies()) {
        for (long seed = 1; seed <= SEEDS; seed++) {
          specs.add(
              new SimulationSpec(
                  loaded.workload(),
                  policy,
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
