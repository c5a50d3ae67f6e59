package io.fairlead.cli.simulate;

import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;

/** How much is to be simulated, in words. */
final class Amount {

  private Amount() {}

  /**
   * Of runs.
   *
   * @param seconds the simulated seconds of each
   */
  static String of(List<Double> seconds) {
    DoubleSummaryStatistics lengths =
        seconds.stream().mapToDouble(Double::doubleValue).summaryStatistics();
    String shortest = String.format(Locale.ROOT, "%.0f", lengths.getMin());
    String longest = String.format(Locale.ROOT, "%.0f", lengths.getMax());
    return "%d %s of %s s"
        .formatted(
            lengths.getCount(),
            lengths.getCount() == 1 ? "run" : "runs",
            shortest.equals(longest) ? longest : shortest + " to " + longest);
  }
}
