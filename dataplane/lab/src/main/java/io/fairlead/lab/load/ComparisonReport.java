package io.fairlead.lab.load;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a comparison came to; written as JSON.
 *
 * @param ratePerSecond mean arrivals a second
 * @param rounds how often the two took turns
 * @param seed of the requests
 * @param baseline what it is compared with
 * @param subject what was measured
 * @param picks how often the subject's picker sent a request to each endpoint, by its own count
 * @param warmUpProblems failures before the requests that count
 */
record ComparisonReport(
    double ratePerSecond,
    int rounds,
    long seed,
    Side baseline,
    Side subject,
    Map<String, Long> picks,
    List<String> warmUpProblems) {

  /**
   * One of the two.
   *
   * @param name as in the table
   * @param load what the client saw
   * @param cpuMicrosPerRequest CPU time of each process on the way, all its threads, per request
   */
  record Side(String name, LoadReport load, Map<String, Double> cpuMicrosPerRequest) {}

  /** Why the run is not a success; empty when it is one. */
  List<String> problems() {
    var problems = new ArrayList<>(warmUpProblems);
    for (Side side : List.of(baseline, subject)) {
      if (!side.load().flawless()) {
        problems.add(problem(side.name(), side.load()));
      }
    }
    var chosen = new TreeMap<>(picks);
    chosen.values().removeIf(count -> count == 0);
    var answered = new TreeMap<>(subject.load().endpoints());
    if (!chosen.equals(answered)) {
      problems.add("%s: chosen %s, but answered %s".formatted(subject.name(), chosen, answered));
    }
    return List.copyOf(problems);
  }

  static String problem(String name, LoadReport report) {
    return "%s: of %d requests %d failed %s, %d were rejected"
        .formatted(name, report.sent(), report.failed(), report.failures(), report.rejected());
  }
}
