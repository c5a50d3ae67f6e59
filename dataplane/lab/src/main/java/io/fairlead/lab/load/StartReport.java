package io.fairlead.lab.load;

import io.fairlead.lab.statistics.Sorted;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * What a picker does in its first seconds, and when it has run for a while.
 *
 * @param starts each start of it
 */
record StartReport(List<Start> starts) {

  /**
   * One start.
   *
   * @param readyMillis from the start of its process until it was ready
   * @param first its first seconds from then on
   * @param steady its last ones
   */
  record Start(double readyMillis, Span first, Span steady) {}

  /**
   * Some seconds of load.
   *
   * @param requests that were due in them
   * @param failed of these
   * @param p50Millis until the first byte of the answer, from when a request was due
   * @param p99Millis the same
   * @param cpuMicros CPU time of the picker per request
   * @param residentMiB memory of the picker at the end
   */
  record Span(
      long requests,
      long failed,
      double p50Millis,
      double p99Millis,
      double cpuMicros,
      double residentMiB) {}

  /** A table in Markdown: medians over the starts. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("| | first 10 s | steady | ratio |");
    lines.add("|---|---|---|---|");
    lines.add(row("requests", "%.0f", Span::requests));
    lines.add(row("failed", "%.0f", Span::failed));
    lines.add(row("first byte p50, ms", "%.2f", Span::p50Millis));
    lines.add(row("first byte p99, ms", "%.2f", Span::p99Millis));
    lines.add(row("CPU per request, µs", "%.0f", Span::cpuMicros));
    lines.add(row("resident, MiB", "%.0f", Span::residentMiB));
    lines.add(
        String.format(
            Locale.ROOT,
            "%nready after %.0f ms (medians of %d starts)",
            Sorted.of(starts.stream().mapToDouble(Start::readyMillis).toArray()).median(),
            starts.size()));
    return lines;
  }

  private String row(String name, String format, ToDoubleFunction<Span> of) {
    double first = Sorted.of(starts.stream().map(Start::first).mapToDouble(of).toArray()).median();
    double steady =
        Sorted.of(starts.stream().map(Start::steady).mapToDouble(of).toArray()).median();
    return String.format(
        Locale.ROOT,
        "| %s | " + format + " | " + format + " | %s |",
        name,
        first,
        steady,
        steady > 0 ? String.format(Locale.ROOT, "%.2f", first / steady) : "–");
  }
}
