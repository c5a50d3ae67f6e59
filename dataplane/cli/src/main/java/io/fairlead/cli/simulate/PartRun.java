package io.fairlead.cli.simulate;

import io.fairlead.lab.evaluation.Plan;
import io.fairlead.lab.evaluation.Plan.Case;
import io.fairlead.lab.evaluation.Plan.Contender;
import io.fairlead.lab.evaluation.Row;
import io.fairlead.lab.evaluation.Row.Setting;
import io.fairlead.lab.simulator.Perception;
import io.fairlead.lab.simulator.Policy;
import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.Scenario;
import io.fairlead.lab.simulator.ScenarioEvent;
import io.fairlead.lab.simulator.SimulationRuns;
import io.fairlead.lab.simulator.SimulationSpec;
import io.fairlead.lab.simulator.SimulationSpec.Front;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.stub.engine.Imperfection;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** One part of a plan: its runs, load after load, until nobody keeps up. */
final class PartRun {

  private static final double QUICK_SECONDS = 2;
  private static final int QUICK_SEEDS = 2;
  private static final int QUICK_STEPS = 2;

  private final Plan.Part part;
  private final Map<String, Contender> contenders;
  private final Map<String, Policy> policies = new LinkedHashMap<>();
  private final @Nullable Path traces;
  private final boolean quick;
  private final List<Long> seeds;

  PartRun(Plan plan, String name, @Nullable Path traces, boolean quick) throws IOException {
    part = Objects.requireNonNull(plan.parts().get(name));
    contenders = plan.contenders();
    this.traces = traces;
    this.quick = quick;
    SeedRange range = SeedRange.parse(part.seeds());
    seeds =
        LongStream.rangeClosed(range.first(), range.last())
            .limit(quick ? QUICK_SEEDS : Long.MAX_VALUE)
            .boxed()
            .toList();
    for (String each : part.all()) {
      policies.put(each, new Policy(each, Policies.read(plan.policy(each)).scheduler()));
    }
  }

  List<Long> seeds() {
    return seeds;
  }

  /** How many there will be if some contender keeps up with every load. */
  int mostRuns() {
    return part.cases().stream().mapToInt(each -> steps(each).size()).sum()
        * policies.size()
        * seeds.size();
  }

  /**
   * Runs them all.
   *
   * @param ended told of each run when it has ended, from any thread
   */
  List<Row> rows(int threads, Consumer<String> ended) throws InterruptedException {
    Map<Case, List<Row>> rows = new LinkedHashMap<>();
    List<Case> going = new ArrayList<>();
    for (Case each : part.cases()) {
      rows.put(each, new ArrayList<>());
      going.add(each);
    }
    for (int step = 0; !going.isEmpty(); step++) {
      List<SimulationSpec> specs = new ArrayList<>();
      for (Case each : going) {
        specs.addAll(specs(each, steps(each).get(step)));
      }
      List<RunResult> results =
          SimulationRuns.run(
              specs,
              threads,
              run -> ended.accept(run.workload() + ", " + run.policy() + ", seed " + run.seed()));
      List<Case> next = new ArrayList<>();
      int from = 0;
      for (Case each : going) {
        int to = from + policies.size() * seeds.size();
        List<Row> mine = rows(each, steps(each).get(step), results.subList(from, to));
        Objects.requireNonNull(rows.get(each)).addAll(mine);
        // Beyond the load at which nobody keeps up there is nothing to be seen.
        if (step + 1 < steps(each).size() && mine.stream().anyMatch(Row::servedAll)) {
          next.add(each);
        }
        from = to;
      }
      going = next;
    }
    return rows.values().stream().flatMap(List::stream).toList();
  }

  private List<Double> steps(Case each) {
    List<Double> steps = each.steps();
    return quick ? steps.subList(0, Math.min(QUICK_STEPS, steps.size())) : steps;
  }

  private List<Row> rows(Case each, double load, List<RunResult> results) {
    List<Row> rows = new ArrayList<>();
    int size = seeds.size();
    for (int i = 0; i < results.size(); i += size) {
      List<RunResult> runs = results.subList(i, i + size);
      var setting =
          new Setting(
              each.workload(), load, runs.getFirst().pool(), String.join("; ", each.faults()));
      rows.add(Row.of(setting, runs.getFirst().policy(), runs));
    }
    return rows;
  }

  /** Whether it can't be run without a folder of traces. */
  static boolean needsTraces(Plan.Part part) {
    return part.cases().stream().anyMatch(PartRun::isTrace);
  }

  private static boolean isTrace(Case each) {
    return Workloads.presets().stream().noneMatch(preset -> preset.name().equals(each.workload()));
  }

  /** All runs of a case at a load, in the order of contenders, then seeds. */
  List<SimulationSpec> specs(Case each, double load) {
    String name =
        isTrace(each)
            ? Objects.requireNonNull(traces).resolve(each.workload()).toString()
            : each.workload();
    LoadedWorkload loaded = LoadedWorkload.of(name + "@" + load);
    PoolSpec pool = PoolSpec.parse(each.pool() == null ? loaded.preset().pool() : each.pool());
    double seconds = quick ? QUICK_SECONDS : each.seconds();
    double unmeasured = quick ? QUICK_SECONDS / 4 : each.unmeasured();
    List<ScenarioEvent> events = loaded.happening(Scenario.NONE, seconds);
    for (String fault : each.faults()) {
      events.addAll(Scenario.line(fault).events(seconds));
    }
    List<SimulationSpec> specs = new ArrayList<>();
    policies.forEach(
        (contender, policy) -> {
          Settings settings =
              settings(Objects.requireNonNull(contenders.get(contender)), seconds, unmeasured);
          for (long seed : seeds) {
            specs.add(
                new SimulationSpec(loaded.workload(seconds), policy, pool, seed, settings, events));
          }
        });
    return specs;
  }

  private static Settings settings(Contender contender, double seconds, double unmeasured) {
    Settings.Builder settings =
        Settings.builder(seconds, unmeasured)
            .following(contender.following())
            .labelled(contender.labels())
            .imperfection(contender.noise() ? Imperfection.REAL : Imperfection.NONE);
    Optional.ofNullable(contender.scrapeMillis()).ifPresent(settings::scrapeMillis);
    Optional.ofNullable(contender.pickers()).ifPresent(settings::pickers);
    Optional.ofNullable(contender.front()).map(Front::valueOf).ifPresent(settings::front);
    Optional.ofNullable(contender.perception())
        .map(Perception::parse)
        .ifPresent(settings::perception);
    return settings.build();
  }
}
