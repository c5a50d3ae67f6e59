package io.fairlead.lab.load;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.lab.workload.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The program of {@code hack/load}: the same requests over two ways to the same model servers.
 *
 * <p>The ways take turns, and the one that goes first changes with every round: what else happens
 * on the machine, and a cache that the first one warmed for the second, weighs on both alike.
 */
public final class LoadComparison {

  private final LoadOptions options;
  private final Workload workload;

  private LoadComparison(LoadOptions options) {
    this.options = options;
    this.workload = MixedRequests.of(options.model(), options.ratePerSecond());
  }

  /**
   * Prints a table, writes a report, and exits 0 if every request was answered in full by the
   * endpoint chosen for it, 1 if not.
   *
   * @param args see {@link LoadOptions}
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    LoadOptions options;
    try {
      options = LoadOptions.parse(args);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    ComparisonReport report = compare(options);
    ComparisonTable.lines(report).forEach(System.out::println);
    new ObjectMapper()
        .writerWithDefaultPrettyPrinter()
        .writeValue(options.report().toFile(), report);
    List<String> problems = report.problems();
    problems.forEach(System.err::println);
    System.exit(problems.isEmpty() ? 0 : 1);
  }

  static ComparisonReport compare(LoadOptions options) throws IOException, InterruptedException {
    try (var baseline = new LoadSide(options.baseline());
        var subject = new LoadSide(options.subject())) {
      return new LoadComparison(options).run(baseline, subject);
    }
  }

  private ComparisonReport run(LoadSide baseline, LoadSide subject)
      throws IOException, InterruptedException {
    List<LoadSide> order = List.of(baseline, subject);
    if (options.warmup() > 0) {
      for (LoadSide side : order) {
        say("warming up", side);
        side.warmUp(workload, options.seed() - 1, options.warmup());
      }
    }
    Map<String, Long> before = PickCounts.read(options.picks());
    for (int round = 0; round < options.rounds(); round++) {
      for (LoadSide side : round % 2 == 0 ? order : order.reversed()) {
        say("round %d of %d".formatted(round + 1, options.rounds()), side);
        side.send(workload, options.seed() + round, options.inRound(round));
      }
    }
    var picks = new TreeMap<>(PickCounts.read(options.picks()));
    before.forEach((endpoint, count) -> picks.merge(endpoint, -count, Long::sum));
    var problems = new ArrayList<String>();
    order.forEach(side -> side.warmUpProblem().ifPresent(problems::add));
    return new ComparisonReport(
        options.ratePerSecond(),
        options.rounds(),
        options.seed(),
        baseline.report(),
        subject.report(),
        picks,
        problems);
  }

  private static void say(String what, LoadSide side) {
    System.err.printf("%s: %s%n", what, side.name());
  }
}
