package io.fairlead.cli.demo;

import io.fairlead.cli.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lays the endpoints' state out as text. */
final class EndpointTable {

  private static final List<String> HEAD =
      List.of(
          "ENDPOINT", "IN FLIGHT", "QUEUE", "KV USE", "SENT", "PREFIX HIT", "TTFT P50", "TTFT P99");

  private EndpointTable() {}

  /** A head line and a line per row; names to the left, numbers to the right. */
  static List<String> lines(List<EndpointRow> rows) {
    List<List<String>> cells = new ArrayList<>();
    cells.add(HEAD);
    for (EndpointRow row : rows) {
      cells.add(
          List.of(
              row.endpoint(),
              Integer.toString(row.inFlight()),
              Integer.toString(row.queue()),
              percent(row.kvUsage()),
              Long.toString(row.sent()),
              percent(row.prefixHit()),
              millis(row.ttftP50Millis()),
              millis(row.ttftP99Millis())));
    }
    return TextTable.lines(cells);
  }

  private static String percent(double share) {
    return Double.isNaN(share) ? "-" : String.format(Locale.ROOT, "%.0f %%", share * 100);
  }

  private static String millis(double millis) {
    return Double.isNaN(millis) ? "-" : String.format(Locale.ROOT, "%.1f ms", millis);
  }
}
