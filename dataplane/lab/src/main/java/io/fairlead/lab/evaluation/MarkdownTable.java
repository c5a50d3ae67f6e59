package io.fairlead.lab.evaluation;

import java.util.List;

/** A table as Markdown; all columns but the first hold numbers. */
final class MarkdownTable {

  private final StringBuilder out = new StringBuilder();
  private int rows;

  MarkdownTable(List<String> head) {
    row(head);
    out.append("|---").append("|--:".repeat(head.size() - 1)).append("|\n");
    rows = 0;
  }

  void row(List<String> cells) {
    cells.forEach(cell -> out.append("| ").append(cell).append(' '));
    out.append("|\n");
    rows++;
  }

  String text() {
    return rows == 0 ? "–" : out.toString().stripTrailing();
  }
}
