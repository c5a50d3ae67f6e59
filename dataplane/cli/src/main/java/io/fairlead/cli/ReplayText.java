package io.fairlead.cli;

import io.fairlead.lab.load.LoadReport;
import io.fairlead.lab.load.LoadReport.Quantiles;
import io.fairlead.lab.trace.PicksReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/** What replays came to, for people. */
final class ReplayText {

  private ReplayText() {}

  static List<String> lines(PicksReport report) {
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%,d events, %,d decisions: %,d came out the same%s",
            report.events(),
            report.decisions(),
            report.same(),
            share(report.same(), report.decisions())));
    if (report.sameEndpoint() != report.same()) {
      lines.add(
          "%,d came out at the same endpoint%s"
              .formatted(report.sameEndpoint(), share(report.sameEndpoint(), report.decisions())));
    }
    lines.addAll(report.differences());
    if (report.incomplete().isEmpty()) {
      lines.add("The capture is complete: every decision has to come out the same.");
    } else {
      lines.add("The capture is not complete: " + String.join("; ", report.incomplete()) + ".");
      lines.add(
          String.format(
              Locale.ROOT,
              "Of %,d decisions all that led to them was captured; of these %,d differ.",
              report.exact(),
              report.differentInExact()));
    }
    return lines;
  }

  static List<String> lines(String workload, Duration took, LoadReport report) {
    double seconds = took.toNanos() / 1e9;
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "%s: %,d requests sent in %.1f s: %,d succeeded, %,d rejected (429), %,d failed%s",
            workload,
            report.sent(),
            seconds,
            report.succeeded(),
            report.rejected(),
            report.failed(),
            report.failures().isEmpty() ? "" : " " + new TreeMap<>(report.failures())));
    lines.add(
        String.format(Locale.ROOT, "%-28s %10s %10s %10s %10s", "ms", "mean", "p50", "p90", "p99"));
    lines.add(row("time to first token", report.ttft()));
    lines.add(row("time per output token", report.tpot()));
    lines.add(row("whole answer", report.endToEnd()));
    LoadReport.Tokens tokens = report.tokens();
    lines.add(
        String.format(
            Locale.ROOT,
            "tokens: %,d of prompts, %,d of them cached%s, %,d put out (%,.0f a second)",
            tokens.prompt(),
            tokens.cached(),
            share(tokens.cached(), tokens.prompt()),
            tokens.output(),
            tokens.output() / seconds));
    if (!report.endpoints().isEmpty()) {
      lines.add("answered by endpoint: " + new TreeMap<>(report.endpoints()));
    }
    lines.add("answered by model: " + new TreeMap<>(report.models()));
    return lines;
  }

  private static String row(String name, Quantiles millis) {
    return String.format(
        Locale.ROOT,
        "%-28s %10.2f %10.2f %10.2f %10.2f",
        name,
        millis.mean(),
        millis.p50(),
        millis.p90(),
        millis.p99());
  }

  private static String share(long part, long whole) {
    return whole == 0 ? "" : String.format(Locale.ROOT, " (%.2f %%)", 100.0 * part / whole);
  }
}
