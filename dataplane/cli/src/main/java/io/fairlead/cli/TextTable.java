package io.fairlead.cli;

import java.util.List;

/** Lays rows of cells out in columns. */
public final class TextTable {

  private TextTable() {}

  /**
   * A line per row, all with as many cells: the first to the left, the others to the right. What of
   * a cell can't be shown is written out.
   */
  public static List<String> lines(List<List<String>> cells) {
    List<List<String>> rows =
        cells.stream().map(row -> row.stream().map(ShownText::line).toList()).toList();
    int[] widths = new int[rows.getFirst().size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    return rows.stream().map(row -> line(row, widths)).toList();
  }

  private static String line(List<String> cells, int[] widths) {
    var line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String pad = " ".repeat(widths[i] - cells.get(i).length());
      line.append(i == 0 ? cells.get(i) + pad : "  " + pad + cells.get(i));
    }
    return line.toString();
  }
}
