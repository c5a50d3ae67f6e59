package io.fairlead.cli.simulate;

import io.fairlead.cli.GivenOptions;
import io.fairlead.cli.InputText;
import io.fairlead.cli.Progress;
import io.fairlead.cli.simulate.GateHandicaps.Noticed;
import io.fairlead.lab.gate.GateBaseline;
import io.fairlead.lab.gate.GateReport;
import io.fairlead.lab.gate.PeerReport;
import io.fairlead.lab.report.Report;
import io.fairlead.lab.simulator.Policy;
import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.Scenario;
import io.fairlead.lab.simulator.ScenarioEvent;
import io.fairlead.lab.simulator.ShadowedRun;
import io.fairlead.lab.simulator.SimulationRuns;
import io.fairlead.lab.simulator.SimulationSpec;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workload;
import io.fairlead.stub.profile.EngineProfiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs policies on workloads in virtual time and compares them. */
@Command(
    name = "simulate",
    description =
        "What a scheduling policy does to a workload: the real scheduler, in virtual time.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
public final class SimulateCommand implements Callable<Integer> {

  /** What the gate's matrix has its own of. */
  private static final List<String> OF_COMPARISONS =
      List.of(
          "--workload",
          "--policy",
          "--shadow",
          "--pool",
          "--profiles",
          "--seeds",
          "--seconds",
          "--warm-up",
          "--reference",
          "--out");

  /** What a baseline may be made with. */
  private static final Set<String> OF_BASELINES = Set.of("--gate", "--update", "--threads");

  @Option(
      names = "--workload",
      paramLabel = "NAME|FILE[@LOAD]",
      split = ",",
      description =
          "What comes, e.g. chat; chat@1.2 is 1.2 times as much of it. See --list. A file is a"
              + " document (.yaml) or a trace: Mooncake's, Azure's or a capture; @2 replays it twice"
              + " as fast.",
      defaultValue = "chat")
  private List<String> workloads = List.of();

  @Option(
      names = "--policy",
      paramLabel = "NAME|FILE",
      split = ",",
      description =
          "Who places it: shipped ones, see --list, or files with an EndpointPickerConfig.",
      defaultValue = "cost,weighted-223-polled,round-robin")
  private List<String> policies = List.of();

  @Option(
      names = "--shadow",
      paramLabel = "NAME|FILE",
      split = ",",
      description =
          "Policies that are asked beside each, place nothing, and say what they would have made of"
              + " it, as the shadows of a picker do.")
  private List<String> shadows = List.of();

  @Option(
      names = "--pool",
      paramLabel = "COUNTxENGINE[+…]|FILE",
      description =
          "On what, e.g. 3xh100-8b+2xl40s-8b, or a document (.yaml). Default: what the workload is"
              + " made for.")
  private @Nullable String pool;

  @Option(
      names = "--profiles",
      paramLabel = "FILE",
      description = "Engine profiles of your own, for --pool to name beside those that ship.")
  private @Nullable Path profiles;

  @Option(
      names = "--seeds",
      paramLabel = "COUNT|FIRST..LAST",
      description =
          "Runs of each, with the seeds FIRST to LAST, or with COUNT seeds from 6 on: what was"
              + " tuned on some seeds, 1 to 5 here, is to be judged on others. Seed 3 of a trace is"
              + " the third window of it that is as long as the run.",
      defaultValue = "6..10")
  private String seeds = "6..10";

  @Option(
      names = "--scenario",
      paramLabel = "NAME|FILE|EVENT[;EVENT…]",
      description =
          "What happens in the course of the runs: a shipped scenario, see --list, a document with"
              + " events, or events on a line, as in"
              + " @|bold kind=fail-fast,server=2,at=10s,for=20s|@.")
  private @Nullable String scenario;

  @Mixin private RunOptions run = new RunOptions();

  @Option(
      names = "--reference",
      paramLabel = "POLICY",
      description = "The policy that ratios are over. Default: the second named, or the only one.")
  private @Nullable String reference;

  @Option(
      names = "--out",
      paramLabel = "FOLDER",
      description = "Write report.html, report.md and report.json there.")
  private @Nullable Path folder;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Runs at a time. Default: one per core.",
      defaultValue = "0",
      showDefaultValue = CommandLine.Help.Visibility.NEVER)
  private int threads;

  @Option(
      names = "--gate",
      description =
          "Run the gate's small matrix instead, and fail when anything is more than 3 %% (TTFT p99:"
              + " 10 %%) worse than the committed baseline, when cost is that much worse than the best"
              + " of its peers, or when a measure does not notice what is injected for it.")
  private boolean gate;

  @Option(
      names = "--update",
      paramLabel = "FILE",
      description = "With --gate: write what was found to FILE, as the next baseline.")
  private @Nullable Path update;

  @Option(
      names = "--list",
      description = "List workloads, policies, scenarios and engines, and end.")
  private boolean list;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (list) {
      Listing.lines().forEach(out()::println);
      out().flush();
      return 0;
    }
    if (update != null && !gate) {
      throw new ParameterException(spec.commandLine(), "--update goes with --gate");
    }
    if (gate) {
      refuseWithGate();
    }
    EngineProfiles engines = engines();
    Scenario happening = scenario == null ? Scenario.NONE : Scenarios.read(scenario, engines);
    List<SimulationSpec> specs =
        gate ? GateMatrix.specs(run, happening) : specs(happening, engines);
    long began = System.nanoTime();
    List<ShadowedRun> runs = run(specs, shadows());
    List<RunResult> results = ShadowedRun.results(runs);
    Duration took = Duration.ofNanos(System.nanoTime() - began);
    boolean passed = gate ? gated(results) : compared(results);
    if (!shadows.isEmpty()) {
      ShadowLines.of(runs).forEach(out()::println);
    }
    summarise(results, took, out());
    out().flush();
    return passed ? 0 : 1;
  }

  private void refuseWithGate() {
    GivenOptions.refuse(
        spec,
        OF_COMPARISONS,
        "does not go with --gate, which runs a matrix of its own; leave it out");
    if (update != null) {
      GivenOptions.refuse(
          spec,
          spec.options().stream()
              .map(OptionSpec::longestName)
              .filter(option -> !OF_BASELINES.contains(option))
              .toList(),
          "does not go with --update: a baseline is of runs in which nothing is amiss");
    }
  }

  private List<ShadowedRun> run(List<SimulationSpec> specs, List<Policy> shadows)
      throws InterruptedException {
    int atATime = threads > 0 ? threads : Runtime.getRuntime().availableProcessors();
    String amount = Amount.of(specs.stream().map(spec -> spec.settings().seconds()).toList());
    try (Progress progress = Progress.onStderr("simulating " + amount, specs.size())) {
      return SimulationRuns.run(
          specs,
          shadows,
          atATime,
          result ->
              progress.advance(
                  1, result.workload() + ", " + result.policy() + ", seed " + result.seed()));
    }
  }

  private boolean gated(List<RunResult> results) throws IOException, InterruptedException {
    if (update != null) {
      if (update.getParent() != null) {
        Files.createDirectories(update.getParent());
      }
      Files.writeString(update, GateBaseline.of(results).json());
      out().println("wrote the baseline " + update);
      return true;
    }
    GateReport report = GateReport.of(GateBaseline.committed(), results);
    report.text().forEach(out()::println);
    if (run.handicapped() || scenario != null) {
      return report.passed();
    }
    PeerReport peers =
        PeerReport.of(results, GateMatrix.SUBJECT, GateMatrix.PEERS, GateMatrix.KNOWN);
    out().println();
    peers.text().forEach(out()::println);
    List<Noticed> noticed =
        GateHandicaps.noticed(ShadowedRun.results(run(GateHandicaps.specs(), List.of())));
    out().println();
    noticed.forEach(out()::println);
    return report.passed() && peers.passed() && noticed.stream().allMatch(Noticed::noticed);
  }

  private boolean compared(List<RunResult> results) throws IOException {
    Report report =
        Report.of("Simulated policies", commandLine(), described(), results, reference(results));
    report.comparison().lines().forEach(out()::println);
    ShareLines.of(results).forEach(out()::println);
    if (folder != null) {
      Files.createDirectories(folder);
      Files.writeString(folder.resolve("report.html"), report.html());
      Files.writeString(folder.resolve("report.md"), report.markdown());
      try (Writer json = Files.newBufferedWriter(folder.resolve("report.json"))) {
        report.json(json);
      }
      out().println("wrote " + folder.resolve("report.html") + ", report.md and report.json");
    }
    return true;
  }

  private Map<String, String> described() {
    Map<String, String> parameters = run.described();
    if (scenario != null) {
      parameters.put("scenario", scenario);
    }
    return parameters;
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private String commandLine() {
    return "fairlead " + String.join(" ", spec.commandLine().getParseResult().originalArgs());
  }

  private static PoolSpec pool(String text, EngineProfiles known) throws IOException {
    if (!text.matches(".*\\.ya?ml")) {
      return PoolSpec.parse(text, known);
    }
    Path file = Path.of(text);
    if (!Files.exists(file)) {
      throw new IllegalArgumentException("pool: there is no file " + text);
    }
    String name = file.getFileName().toString().replaceFirst("\\.ya?ml$", "");
    return PoolSpec.read(name, text, InputText.read(file), known);
  }

  private EngineProfiles engines() throws IOException {
    EngineProfiles shipped = EngineProfiles.shipped();
    return profiles == null
        ? shipped
        : shipped.with(EngineProfiles.read(InputText.name(profiles), InputText.read(profiles)));
  }

  private List<SimulationSpec> specs(Scenario happening, EngineProfiles known) throws IOException {
    SeedRange range = SeedRange.parse(seeds);
    List<Policy> named = policies("--policy", policies);
    List<String> names = named.stream().map(Policy::name).toList();
    if (reference != null && !names.contains(reference)) {
      throw new ParameterException(
          spec.commandLine(),
          "--reference is %s; name one of the policies: %s"
              .formatted(reference, String.join(", ", names)));
    }
    List<String> arrivingOn = new ArrayList<>();
    List<SimulationSpec> specs = new ArrayList<>();
    for (String workload : workloads) {
      LoadedWorkload loaded = LoadedWorkload.of(workload);
      if (loaded.trace() != null) {
        loaded.trace().remark().ifPresent(out()::println);
      }
      PoolSpec engines = pool(pool == null ? loaded.preset().pool() : pool, known);
      Settings settings = run.settings(loaded.preset());
      Workload arriving = loaded.workload(settings.seconds());
      arrivingOn.add(arriving.name() + " on " + engines.text());
      List<ScenarioEvent> events = loaded.happening(happening, settings.seconds());
      for (Policy policy : named) {
        for (long seed = range.first(); seed <= range.last(); seed++) {
          specs.add(new SimulationSpec(arriving, policy, engines, seed, settings, events));
        }
      }
    }
    refuseTwice("--workload", arrivingOn);
    return specs;
  }

  private List<Policy> shadows() throws IOException {
    return policies("--shadow", shadows);
  }

  private List<Policy> policies(String option, List<String> namesOrFiles) throws IOException {
    List<Policy> named = new ArrayList<>();
    for (String policy : namesOrFiles) {
      named.add(Policies.read(policy));
    }
    refuseTwice(option, named.stream().map(Policy::name).toList());
    return named;
  }

  /** Reports tell runs apart by these. */
  private void refuseTwice(String option, List<String> names) {
    for (String name : names) {
      if (Collections.frequency(names, name) > 1) {
        throw new ParameterException(
            spec.commandLine(),
            "%s has \"%s\" twice; a file goes by its name, so give it one of its own"
                .formatted(option, name));
      }
    }
  }

  private String reference(List<RunResult> results) {
    if (reference != null) {
      return reference;
    }
    List<String> names = results.stream().map(RunResult::policy).distinct().toList();
    return names.get(Math.min(1, names.size() - 1));
  }

  private static void summarise(List<RunResult> results, Duration took, PrintWriter out) {
    double simulated = results.stream().mapToDouble(RunResult::simulatedSeconds).sum();
    double seconds = took.toNanos() / 1e9;
    out.printf(
        "%d runs, %.0f simulated seconds in %.1f s: %.0f times real time%n",
        results.size(), simulated, seconds, simulated / seconds);
  }
}
