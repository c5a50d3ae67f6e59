package io.fairlead.cli.simulate;

import io.fairlead.cli.Progress;
import io.fairlead.lab.evaluation.Document;
import io.fairlead.lab.evaluation.PartResults;
import io.fairlead.lab.evaluation.Plan;
import io.fairlead.lab.evaluation.Row;
import io.fairlead.lab.evaluation.SchedulerVersion;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs the parts of an evaluation's plan and writes its document. */
@Command(
    name = "evaluate",
    description =
        "Runs the parts of an evaluation's plan and writes its document: ./hack/evaluate.",
    mixinStandardHelpOptions = true,
    hidden = true,
    showDefaultValues = true)
public final class EvaluateCommand implements Callable<Integer> {

  private static final String PLAN = "plan.yaml";
  private static final String TEMPLATE = "template.md";
  private static final String SOURCES = "dataplane/core/src/main/java";
  private static final String DOCUMENT = "docs/evaluation.md";

  @Parameters(paramLabel = "PART", arity = "0..*", description = "Parts of the plan to run.")
  private List<String> parts = List.of();

  @Option(
      names = "--folder",
      description = "Where plan.yaml and template.md are.",
      defaultValue = "docs/evaluation")
  private Path folder = Path.of("docs/evaluation");

  @Option(
      names = "--results",
      paramLabel = "FOLDER",
      description = "Where each part's PART.json is read and written. Default: --folder.")
  private @Nullable Path results;

  @Option(
      names = "--document",
      paramLabel = "FILE",
      description = "What is written.",
      defaultValue = DOCUMENT)
  private Path document = Path.of(DOCUMENT);

  @Option(
      names = "--traces",
      paramLabel = "FOLDER",
      description = "Where the plan's traces are. Parts with traces are refused without it.")
  private @Nullable Path traces;

  @Option(names = "--commit", description = "Of what the numbers are.", defaultValue = "unknown")
  private String commit = "unknown";

  @Option(
      names = "--sources",
      paramLabel = "FOLDER",
      description = "Of the scheduler: tell one version of it from another.",
      defaultValue = SOURCES)
  private Path sources = Path.of(SOURCES);

  @Option(
      names = "--quick",
      description =
          "A few seconds and two seeds of everything: whether the command works. Needs --results"
              + " and --document, since what comes of it is worth nothing.")
  private boolean quick;

  @Option(
      names = "--threads",
      description = "Runs at a time. Default: one per core.",
      defaultValue = "0",
      showDefaultValue = CommandLine.Help.Visibility.NEVER)
  private int threads;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (quick && (results == null || document.equals(Path.of(DOCUMENT)))) {
      throw new ParameterException(
          spec.commandLine(),
          "--quick needs --results and --document of its own: it would overwrite what is kept");
    }
    Plan plan = Plan.read(Files.readString(folder.resolve(PLAN)));
    for (String part : parts) {
      if (!plan.parts().containsKey(part)) {
        throw new ParameterException(
            spec.commandLine(),
            "\"%s\" is none of the plan's parts %s".formatted(part, plan.parts().keySet()));
      }
      if (traces == null && PartRun.needsTraces(Objects.requireNonNull(plan.parts().get(part)))) {
        throw new ParameterException(
            spec.commandLine(),
            "%s needs traces: set TRACES, or --traces, to the folder they are in; its results are kept"
                .formatted(part));
      }
    }
    for (String part : parts) {
      make(plan, part);
    }
    write(plan);
    return 0;
  }

  private Path kept() {
    return results == null ? folder : results;
  }

  private void make(Plan plan, String part) throws IOException, InterruptedException {
    var run = new PartRun(plan, part, traces, quick);
    int atATime = threads > 0 ? threads : Runtime.getRuntime().availableProcessors();
    long began = System.nanoTime();
    List<Row> rows;
    try (Progress progress = Progress.onStderr(part, run.mostRuns())) {
      rows = run.rows(atATime, ended -> progress.advance(1, ended));
    }
    PartResults made =
        new PartResults(
            "./hack/evaluate " + part,
            commit,
            SchedulerVersion.of(sources),
            plan.fingerprint(part, EvaluateCommand::policy),
            quick,
            run.seeds(),
            rows);
    Files.createDirectories(kept());
    Path file = kept().resolve(part + ".json");
    Files.writeString(file, made.json());
    out()
        .printf(
            "%s: %d rows in %.0f s, %s%n",
            part, rows.size(), Duration.ofNanos(System.nanoTime() - began).toMillis() / 1e3, file);
    out().flush();
  }

  private void write(Plan plan) throws IOException {
    String template = Files.readString(folder.resolve(TEMPLATE));
    Files.writeString(
        document,
        Document.render(
            template,
            plan,
            read(plan, kept()),
            SchedulerVersion.of(sources),
            EvaluateCommand::policy));
    out().println("wrote " + document);
    out().flush();
  }

  private static String policy(String nameOrFile) {
    return Policies.text(nameOrFile, Path.of(""));
  }

  /** What is kept of the plan's parts. */
  static Map<String, PartResults> read(Plan plan, Path folder) throws IOException {
    Map<String, PartResults> made = new LinkedHashMap<>();
    for (String part : plan.parts().keySet()) {
      Path file = folder.resolve(part + ".json");
      if (Files.exists(file)) {
        try {
          made.put(part, PartResults.read(Files.readString(file)));
        } catch (IOException e) {
          throw new IOException(file + ": " + e.getMessage(), e);
        }
      }
    }
    return made;
  }

  private PrintWriter out() {
    return Objects.requireNonNull(spec.commandLine().getOut());
  }
}
