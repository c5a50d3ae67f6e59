package io.fairlead.lab.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Cells laid out as lines of text: the first column to the left, the others to the right. */
public final class TextTable {

  private final List<List<String>> rows = new ArrayList<>();

  public TextTable(String... head) {
    rows.add(List.of(head));
  }

  /** Adds a row with as many cells as the head has. */
  public TextTable row(String... cells) {
    if (cells.length != rows.getFirst().size()) {
      throw new IllegalArgumentException(
          "row %s has %d cells, the head has %d"
              .formatted(Arrays.toString(cells), cells.length, rows.getFirst().size()));
    }
    rows.add(List.of(cells));
    return this;
  }

  /** The head and a line for every row, without trailing space. */
  public List<String> lines() {
    int[] widths = new int[rows.getFirst().size()];
    for (List<String> row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    return rows.stream().map(row -> line(row, widths)).toList();
  }

  private static String line(List<String> row, int[] widths) {
    var line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String pad = " ".repeat(widths[i] - row.get(i).length());
      line.append(i == 0 ? row.get(i) + pad : "  " + pad + row.get(i));
    }
    return line.toString().stripTrailing();
  }
}
