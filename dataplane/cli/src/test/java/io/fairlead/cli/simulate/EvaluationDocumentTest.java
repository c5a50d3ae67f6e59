package io.fairlead.cli.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.fairlead.lab.evaluation.Document;
import io.fairlead.lab.evaluation.Plan;
import io.fairlead.lab.evaluation.SchedulerVersion;
import io.fairlead.lab.workload.Workloads;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The evaluation that is committed, and the command that makes it. */
final class EvaluationDocumentTest {

  private static final Path ROOT = Path.of("../..");
  private static final Path FOLDER = ROOT.resolve("docs/evaluation");
  private static final Path SOURCES = ROOT.resolve("dataplane/core/src/main/java");

  @Test
  void theDocumentIsWhatItsResultsRenderTo() throws IOException {
    Plan plan = plan();
    String rendered =
        Document.render(
            Files.readString(FOLDER.resolve("template.md")),
            plan,
            EvaluateCommand.read(plan, FOLDER),
            SchedulerVersion.of(SOURCES),
            policy -> Policies.text(policy, ROOT));

    assertThat(Files.readString(ROOT.resolve("docs/evaluation.md")))
        .as("docs/evaluation.md is written by: ./hack/evaluate render")
        .isEqualTo(rendered);
  }

  @Test
  void frozenConstantsAreTheDefaultsOfTheCostModel() throws IOException {
    Path sources = SOURCES.resolve("io/fairlead/core/plugins/cost");
    Pattern parameter =
        Pattern.compile("parameters\\.(?:number|integer)\\(\\s*\"(\\w+)\",\\s*([0-9._]+),");
    Map<String, Double> defaults = new TreeMap<>();
    try (Stream<Path> files = Files.walk(sources)) {
      files
          .filter(Files::isRegularFile)
          .forEach(
              file -> {
                Matcher found = parameter.matcher(read(file));
                while (found.find()) {
                  String number = found.group(2).replace("_", "");
                  defaults.put(found.group(1), Double.parseDouble(number));
                }
              });
    }

    assertThat(defaults).isNotEmpty();
    assertThat(plan().frozen())
        .as("frozen, in docs/evaluation/plan.yaml")
        .containsExactlyInAnyOrderEntriesOf(defaults);
  }

  @Test
  void allThatThePlanNamesIsThere() throws IOException {
    Plan plan = plan();
    for (Plan.Part part : plan.parts().values()) {
      SeedRange.parse(part.seeds());
      for (Plan.Case each : part.cases()) {
        if (!each.workload().endsWith(".jsonl")) {
          assertThatCode(() -> Workloads.preset(each.workload())).doesNotThrowAnyException();
        }
      }
    }
    for (Plan.Contender contender : plan.contenders().values()) {
      String policy = contender.policy();
      if (policy != null && policy.contains("/")) {
        assertThat(ROOT.resolve(policy)).exists();
      }
    }
  }

  @Test
  void aPartWithTracesIsRefusedWithoutThemAndItsResultsAreKept(@TempDir Path folder)
      throws IOException {
    Path kept = folder.resolve("traces.json");
    Files.writeString(kept, "kept");
    var err = new StringWriter();
    CommandLine command = new CommandLine(new EvaluateCommand()).setErr(new PrintWriter(err));

    int code = command.execute("--folder=" + FOLDER, "--results=" + folder, "traces");

    assertThat(code).isEqualTo(2);
    assertThat(err.toString()).contains("traces needs traces: set TRACES");
    assertThat(kept).hasContent("kept");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--results", "--document"})
  void aTrialOfTheCommandOverwritesNothingThatIsKept(String option, @TempDir Path folder)
      throws IOException {
    for (String file : List.of("plan.yaml", "template.md", "overload.json")) {
      Files.copy(FOLDER.resolve(file), folder.resolve(file));
    }
    Path document = Files.writeString(folder.resolve("out.md"), "kept");
    var err = new StringWriter();
    CommandLine command = new CommandLine(new EvaluateCommand()).setErr(new PrintWriter(err));

    int code =
        command.execute(
            "overload",
            "--quick",
            "--folder=" + folder,
            option + "=" + (option.equals("--results") ? folder : document));

    assertThat(code).isEqualTo(2);
    assertThat(err.toString()).contains("--quick needs --results and --document of its own");
    assertThat(folder.resolve("overload.json"))
        .hasSameTextualContentAs(FOLDER.resolve("overload.json"));
    assertThat(document).hasContent("kept");
  }

  @Test
  void theCommandRunsAPartAndLeavesTheOthersAsTheyAre(@TempDir Path folder) throws IOException {
    Files.writeString(
        folder.resolve("plan.yaml"),
        """
        frozen: {}
        contenders:
          cost: {}
          weighted: {}
          cost-blind: {policy: cost, scrapeMillis: 0}
        parts:
          first:
            kind: test
            says: Some.
            seeds: 1..3
            subjects: [cost, cost-blind]
            peers: [weighted]
            cases:
            - {workload: chat, loads: [0.5, 1], seconds: 60}
            - {workload: chat, pool: 2xh100-8b, seconds: 60, faults: ["kind=slow,server=1"]}
          second:
            kind: tuning
            says: Others.
            seeds: 1..1
            subjects: [cost]
            peers: [weighted]
            cases:
            - {workload: chat, seconds: 60}
        """);
    Files.writeString(folder.resolve("template.md"), "{{headline}}\n\n{{values first hit-rate}}\n");

    run(folder, "first", "second");
    String second = Files.readString(folder.resolve("second.json"));
    String before = Files.readString(folder.resolve("out.md"));
    run(folder, "first");

    assertThat(folder.resolve("second.json")).hasContent(second);
    assertThat(folder.resolve("out.md")).hasContent(before);
    assertThat(before)
        .contains("`first` is a trial of the command")
        .contains("`chat`, kind=slow,server=1")
        .contains("| `cost-blind` |");
  }

  private static void run(Path folder, String... parts) {
    var command = new CommandLine(new EvaluateCommand());
    var err = new StringWriter();
    command.setOut(new PrintWriter(new StringWriter()));
    command.setErr(new PrintWriter(err));
    String[] options = {
      "--quick",
      "--folder=" + folder,
      "--results=" + folder,
      "--document=" + folder.resolve("out.md"),
      "--sources=" + SOURCES
    };
    int code =
        command.execute(Stream.of(options, parts).flatMap(Stream::of).toArray(String[]::new));
    assertThat(code).as(err.toString()).isZero();
  }

  private static Plan plan() throws IOException {
    return Plan.read(Files.readString(FOLDER.resolve("plan.yaml")));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
