package io.fairlead.lab.load;

import io.fairlead.lab.load.ComparisonReport.Side;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** A comparison as text, the baseline beside the subject. */
final class ComparisonTable {

  private final ComparisonReport report;
  private final List<String> lines = new ArrayList<>();

  private ComparisonTable(ComparisonReport report) {
    this.report = report;
  }

  static List<String> lines(ComparisonReport report) {
    return new ComparisonTable(report).lines();
  }

  private List<String> lines() {
    row("", report.baseline().name(), report.subject().name(), "");
    count("requests", LoadReport::sent);
    count("answered in full", LoadReport::succeeded);
    count("rejected", LoadReport::rejected);
    count("failed", LoadReport::failed);
    millis("first byte p50, ms", load -> load.ttft().p50());
    millis("first byte p99, ms", load -> load.ttft().p99());
    millis("whole answer p50, ms", load -> load.endToEnd().p50());
    millis("whole answer p99, ms", load -> load.endToEnd().p99());
    Set<String> processes = new LinkedHashSet<>(report.baseline().cpuMicrosPerRequest().keySet());
    processes.addAll(report.subject().cpuMicrosPerRequest().keySet());
    for (String process : processes) {
      row(
          "CPU of " + process + ", us/request",
          cpu(report.baseline(), process),
          cpu(report.subject(), process),
          "");
    }
    Set<String> endpoints = new TreeSet<>(report.picks().keySet());
    endpoints.addAll(report.baseline().load().endpoints().keySet());
    endpoints.addAll(report.subject().load().endpoints().keySet());
    for (String endpoint : endpoints) {
      row(
          "answered by " + endpoint,
          answers(report.baseline(), endpoint),
          answers(report.subject(), endpoint),
          "chosen " + report.picks().getOrDefault(endpoint, 0L));
    }
    return List.copyOf(lines);
  }

  private void count(String title, ToLongFunction<LoadReport> value) {
    row(
        title,
        Long.toString(value.applyAsLong(report.baseline().load())),
        Long.toString(value.applyAsLong(report.subject().load())),
        "");
  }

  private void millis(String title, ToDoubleFunction<LoadReport> value) {
    double baseline = value.applyAsDouble(report.baseline().load());
    double subject = value.applyAsDouble(report.subject().load());
    row(
        title,
        String.format(Locale.ROOT, "%.2f", baseline),
        String.format(Locale.ROOT, "%.2f", subject),
        baseline > 0 ? String.format(Locale.ROOT, "x %.2f", subject / baseline) : "");
  }

  private void row(String title, String baseline, String subject, String beside) {
    lines.add(
        String.format(Locale.ROOT, "%-26s %14s %14s  %s", title, baseline, subject, beside)
            .stripTrailing());
  }

  private static String cpu(Side side, String process) {
    Double micros = side.cpuMicrosPerRequest().get(process);
    return micros == null ? "" : String.format(Locale.ROOT, "%.0f", micros);
  }

  private static String answers(Side side, String endpoint) {
    return Long.toString(side.load().endpoints().getOrDefault(endpoint, 0L));
  }
}
