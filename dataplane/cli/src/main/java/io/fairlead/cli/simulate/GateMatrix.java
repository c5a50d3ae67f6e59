package io.fairlead.cli.simulate;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.lab.simulator.Policy;
import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.Scenario;
import io.fairlead.lab.simulator.ScenarioEvent;
import io.fairlead.lab.simulator.SimulationSpec;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the gate runs: the shipped profiles on workloads that show, each in its own way, what goes
 * wrong when scheduling does.
 */
final class GateMatrix {

  /** Who is held against the best of its peers. */
  static final String SUBJECT = "cost";

  /** The peers. */
  static final List<String> PEERS = List.of("weighted", "product", "sticky");

  /**
   * Where its TTFT p99 is further behind the best peer's than 10 %, and how far; to get shorter.
   */
  static final Map<String, Double> KNOWN = Map.of("b2b", 0.20, "b2b@1.5", 0.30);

  static final int SEEDS = 2;

  private static final List<Policy> COST = List.of(Policy.named(SUBJECT));
  private static final List<Policy> ALL =
      Stream.concat(Stream.of(SUBJECT), PEERS.stream()).map(Policy::named).toList();

  /** Told that the hardware is of a class that is some ten times slower. */
  private static final Policy WRONG_PRIOR =
      cost("cost-wrong-prior", Map.of("engineClass", "8b-l4"));

  private static final Policy ONE_OF_THREE = cost("cost-3-pickers", Map.of());

  private static final Policy FAILING = cost("cost-failing-server", Map.of());

  private static final List<Entry> ENTRIES =
      List.of(
          Entry.of("chat", 240, ALL),
          Entry.of("chat@0.5", 120, List.of(WRONG_PRIOR)),
          new Entry("chat@0.5", 120, List.of(ONE_OF_THREE), 3, ""),
          new Entry("chat@0.5", 120, List.of(FAILING), 1, "kind=fail-fast,server=2,at=40s,for=40s"),
          Entry.of("b2b", 360, ALL),
          // More than caches hold if a tenant's prompt is in two of them.
          Entry.of("b2b@1.5", 240, ALL),
          Entry.of("rag", 360, ALL),
          // About all the prompts that can be computed: each that is computed twice shows.
          Entry.of("tasks@2", 40, COST),
          // Caches fill with answers that nobody knows the length of.
          Entry.of("long-answers", 900, ALL),
          Entry.of("bursty", 60, ALL),
          Entry.of("mixed-shared", 120, ALL),
          // The others are overloaded there: any change of anything moves them by more than 3 %.
          Entry.of("lora-32", 60, COST),
          // More than can be served: some are turned away.
          Entry.of("priority@1.25", 40, COST),
          // Twice what can be served, and one who asks for too much: what is served in time stays.
          Entry.of("overload-2x", 120, COST),
          Entry.of("noisy-neighbour", 60, COST));

  private GateMatrix() {}

  /** A workload, for how many simulated seconds, under which policies, and what is amiss. */
  private record Entry(
      String workload, double seconds, List<Policy> policies, int pickers, String scenario) {

    static Entry of(String workload, double seconds, List<Policy> policies) {
      return new Entry(workload, seconds, policies, 1, "");
    }

    List<ScenarioEvent> events() {
      return (scenario.isEmpty() ? Scenario.NONE : Scenario.line(scenario)).events(seconds);
    }
  }

  private static Policy cost(String name, Map<String, Object> parameters) {
    return new Policy(
        name,
        new SchedulerConfig(
            List.of(new PluginConfig("work-cost", "work-cost", parameters)), List.of(), null));
  }

  /**
   * The runs, under the run options given: with a handicap, say.
   *
   * @param happening what happens in every run, beside what the matrix has
   */
  static List<SimulationSpec> specs(RunOptions options, Scenario happening) {
    List<SimulationSpec> specs = new ArrayList<>();
    for (Entry entry : ENTRIES) {
      LoadedWorkload loaded = LoadedWorkload.of(entry.workload());
      Settings.Builder asked =
          options.settings(loaded.preset()).toBuilder()
              .lasting(entry.seconds(), entry.seconds() / 4);
      if (entry.pickers() > 1) {
        asked.pickers(entry.pickers());
      }
      Settings settings = asked.build();
      List<ScenarioEvent> events = loaded.happening(happening, entry.seconds());
      events.addAll(entry.events());
      for (Policy policy : entry.policies()) {
        for (long seed = 1; seed <= SEEDS; seed++) {
          specs.add(
              new SimulationSpec(
                  loaded.whole(),
                  policy,
                  PoolSpec.parse(loaded.preset().pool()),
                  seed,
                  settings,
                  events));
        }
      }
    }
    return specs;
  }
}
