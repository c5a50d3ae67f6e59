package io.fairlead.lab.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Findings as a table in Markdown, ways of a scenario below each other. */
final class FaultsTable {

  private static final List<String> HEAD =
      List.of(
          "fault",
          "frontend",
          "requests",
          "failed",
          "in the first 10 s",
          "later",
          "after it was well",
          "429",
          "first byte p50 / p99, ms",
          "seconds until right",
          "sent to it after 2 s",
          "used again after, s",
          "busiest",
          "in use",
          "not held to");

  private FaultsTable() {}

  static List<String> lines(List<Finding> findings) {
    List<String> lines = new ArrayList<>();
    lines.add(row(HEAD));
    lines.add("|---|---|" + "--:|".repeat(HEAD.size() - 3) + "---|");
    findings.forEach(finding -> lines.add(row(finding)));
    return lines;
  }

  static String row(Finding found) {
    return row(
        List.of(
            found.scenario(),
            found.way(),
            Long.toString(found.requests()),
            found.failed() == 0 ? "0" : failed(found),
            failed(found.first()),
            failed(found.later()),
            failed(found.after()),
            Long.toString(found.rejected()),
            number("%.0f", found.firstByteP50Ms()) + " / " + number("%.0f", found.firstByteP99Ms()),
            number("%.1f", found.secondsUntilRight()),
            Long.toString(found.sentToSick()),
            number("%.1f", found.usedAgainSeconds()),
            number("%.0f %%", 100 * found.busiestShare()),
            found.leastInUse() + " of " + found.servers(),
            String.join("; ", found.problems())));
  }

  private static String failed(Finding found) {
    return "%d (%s) %s"
        .formatted(
            found.failed(),
            percent((double) found.failed() / found.requests()),
            found.kinds().entrySet().stream()
                .filter(kind -> !kind.getKey().equals("429"))
                .map(kind -> kind.getValue() + " × " + kind.getKey())
                .collect(Collectors.joining(", ")));
  }

  private static String failed(Finding.Part part) {
    return part.requests() == 0
        ? "–"
        : part.failed() == 0 ? "0" : "%d (%s)".formatted(part.failed(), percent(part.share()));
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, share < 0.1 ? "%.2f %%" : "%.1f %%", 100 * share);
  }

  private static String number(String format, @Nullable Double number) {
    return number == null || number.isNaN() ? "–" : String.format(Locale.ROOT, format, number);
  }

  private static String row(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |";
  }
}
