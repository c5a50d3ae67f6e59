package io.fairlead.lab.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The program of {@code hack/load faults}: every scenario on every way.
 *
 * <p>The ways of a scenario are tried at the same time, each with servers of its own: what else
 * happens on the machine weighs on all alike.
 */
public final class FaultTrials {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private FaultTrials() {}

  /**
   * Prints a table, writes it beside a report, and exits 0 if every bar was held to by a client
   * that kept up, 1 if not.
   *
   * @param args see {@link FaultsOptions}
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    FaultsOptions options;
    try {
      options = FaultsOptions.parse(args);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    List<Way> ways = new ArrayList<>();
    options.ways().forEach((name, commands) -> ways.add(new CommandWay(name, commands, PATIENCE)));
    List<Finding> findings;
    try {
      findings = make(options, ways);
    } catch (IOException | RuntimeException e) {
      System.err.println("trials of faults ended: " + e);
      System.exit(2); // what the other frontend has started would go on for ever
      return;
    }
    List<String> lines = FaultsTable.lines(findings);
    lines.forEach(System.out::println);
    String file = options.report().getFileName().toString().replaceFirst("\\.json$", "");
    Files.write(options.report().resolveSibling(file + ".md"), lines);
    new ObjectMapper()
        .writerWithDefaultPrettyPrinter()
        .writeValue(options.report().toFile(), findings);
    System.exit(findings.stream().allMatch(finding -> finding.problems().isEmpty()) ? 0 : 1);
  }

  static List<Finding> make(FaultsOptions options, List<Way> ways)
      throws IOException, InterruptedException {
    List<Finding> findings = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (Scenario scenario : options.scenarios()) {
        System.err.printf("%s: %s%n", scenario.name(), scenario.what());
        List<Future<Finding>> trials = new ArrayList<>();
        for (Way way : ways) {
          Path home = options.work().resolve(scenario.name()).resolve(way.name());
          var trial = new Trial(scenario, way, home, options.seed());
          trials.add(threads.submit(trial::make));
        }
        for (Future<Finding> trial : trials) {
          Finding finding = result(trial);
          System.err.println(FaultsTable.row(finding));
          findings.add(finding);
        }
      }
    }
    return findings;
  }

  private static Finding result(Future<Finding> trial) throws IOException, InterruptedException {
    try {
      return trial.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException told) {
        throw told;
      }
      throw new IllegalStateException(e.getCause());
    }
  }
}
