package io.fairlead.cli.conformance;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.fairlead.cli.ShownText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Plays a picker to an external scheduler, and tells what it does wrong. */
@Command(
    name = "scheduler",
    description = {
      "Plays a picker to an external scheduler: says hello, tells of endpoints and changes, asks in"
          + " batches, goes away in the middle and comes again, and looks at every answer.",
      "Prints a table. Exits with 1 if the scheduler fails in a case that a picker relies on; what"
          + " it only should do is a warning."
    },
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class SchedulerConformanceCommand implements Callable<Integer> {

  /** Within it, even a machine that is busy answers. */
  static final Duration PATIENCE = Duration.ofSeconds(5);

  @Option(
      names = "--address",
      required = true,
      paramLabel = "ADDRESS",
      description = "Where it listens: HOST:PORT, or unix: and the path of a socket.")
  private String address = "";

  @Option(
      names = "--timeout",
      paramLabel = "MS",
      description = "How long a picker would wait for an answer, in milliseconds.",
      defaultValue = "20")
  private int timeoutMillis = 20;

  @Option(names = "--tls", description = "Speak TLS, with the authorities that this host trusts.")
  private boolean tls;

  @Option(
      names = "--ca-file",
      paramLabel = "FILE",
      description = "With --tls: certificates of the authorities to trust instead.")
  private @Nullable Path caFile;

  @Option(
      names = "--case",
      paramLabel = "NAME",
      description = "Play this one alone; may be said again for more.")
  private Set<String> cases = Set.of();

  @Option(names = "--json", description = "Print the cases as JSON.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws IOException {
    if (timeoutMillis < 1 || timeoutMillis > 10_000) {
      throw new IllegalArgumentException(
          "--timeout is " + timeoutMillis + "; set 1 to 10000, as a picker's config may");
    }
    List<CaseResult> results;
    try (SchedulerUnderTest scheduler =
        SchedulerUnderTest.at(address, tls, caFile, Duration.ofMillis(timeoutMillis), PATIENCE)) {
      results = new SchedulerCases(scheduler, cases).run();
    }
    PrintWriter out = spec.commandLine().getOut();
    long failed = results.stream().filter(CaseResult::failed).count();
    if (json) {
      out.println(json(results));
    } else {
      table(results).stream().map(ShownText::lines).forEach(out::println);
      out.printf(
          Locale.ROOT,
          "%d of %d cases passed, %d failed%n",
          results.stream().filter(CaseResult::passed).count(),
          results.size(),
          failed);
    }
    out.flush();
    return failed == 0 ? 0 : 1;
  }

  private static List<String> table(List<CaseResult> results) {
    List<String> lines = new ArrayList<>();
    lines.add(line("CASE", "", "WHAT IT MEANS"));
    results.forEach(one -> lines.add(line(one.name(), one.verdict(), one.meaning())));
    for (CaseResult result : results) {
      if (!result.passed()) {
        lines.add(result.name() + ": " + result.problem());
      }
    }
    return lines;
  }

  private static String line(String name, String verdict, String meaning) {
    return String.format(Locale.ROOT, "%-15s %-4s  %s", name, verdict, meaning);
  }

  private static String json(List<CaseResult> results) throws IOException {
    JsonMapper mapper = JsonMapper.builder().build();
    ArrayNode cases = mapper.createArrayNode();
    for (CaseResult result : results) {
      cases
          .addObject()
          .put("case", result.name())
          .put("verdict", result.verdict())
          .put("required", result.required())
          .put("meaning", result.meaning())
          .put("problem", result.problem());
    }
    return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(cases);
  }
}
