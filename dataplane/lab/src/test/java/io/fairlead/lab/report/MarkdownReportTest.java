package io.fairlead.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.statistics.Estimate;
import java.util.List;
import org.junit.jupiter.api.Test;

final class MarkdownReportTest {

  private static final List<RunResult> RUNS =
      MadeUpRuns.matrix(List.of("chat", "rag"), List.of("cost", "weighted", "c|d"), 3, 4);

  @Test
  void hasTablesForEveryWorkload() {
    String markdown = HtmlReportTest.report(RUNS, "weighted").markdown();
    PolicySummary cost = Comparison.of(RUNS, "weighted").groups().getFirst().policies().getFirst();
    Estimate ttft = cost.cell(Measure.TTFT_P50).value();

    assertThat(markdown.lines().filter(line -> line.startsWith("#")))
        .containsExactly(
            "# A \\& \\<b\\>", "## All workloads", "## chat on 4xh100-8b", "## rag on 4xh100-8b");
    assertThat(markdown).contains("```\nfairlead simulate --x '<y>'\n```\n", "- seeds: 3\n");
    assertThat(markdown)
        .contains(
            "end-to-end mean, over that of weighted (✓",
            "| workload | cost | weighted | c\\|d |",
            "| chat on 4xh100-8b | "
                + Shown.ratio(cost.cell(Measure.END_TO_END_MEAN).versus())
                + " ✓ | reference | ×1.13 ± 0.00 ✗ |",
            "| policy | TTFT p50, ms | TTFT p90, ms |",
            "| cost | **"
                + Shown.estimate(Measure.TTFT_P50, ttft, 3)
                + "** ("
                + Shown.ratio(cost.cell(Measure.TTFT_P50).versus())
                + ") |",
            "Jain index 1; rejected 0.5 %; adapter loads 0.");
  }

  @Test
  void everyRowHasTheCellsOfItsHead() {
    List<String> lines = HtmlReportTest.report(RUNS, "weighted").markdown().lines().toList();

    int rows = 0;
    for (int i = 1; i < lines.size(); i++) {
      if (lines.get(i).startsWith("|") && lines.get(i - 1).startsWith("|")) {
        assertThat(cells(lines.get(i))).isEqualTo(cells(lines.get(i - 1)));
        rows++;
      }
    }
    assertThat(rows).isEqualTo(2 * (1 + 2) + 4 * (1 + 3));
  }

  private static int cells(String line) {
    return line.replace("\\|", "").split("\\|", -1).length;
  }
}
