package io.fairlead.lab.gate;

import io.fairlead.lab.gate.GateBaseline.Row;
import io.fairlead.lab.report.Measure;
import io.fairlead.lab.report.TextTable;
import io.fairlead.lab.simulator.RunResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The default policy held against the best of its peers, not against what it was: a slow decline,
 * each step of which is within the baseline's bounds, would else pass.
 *
 * @param lines one per workload and measure
 */
public record PeerReport(List<Line> lines) {

  /** By how much it may be behind the peer with the lowest mean, as a share of the peer's. */
  private static final List<Measure> MEASURES =
      List.of(Measure.END_TO_END_MEAN, Measure.TTFT_P99, Measure.REQUESTS_PER_SECOND);

  public PeerReport {
    lines = List.copyOf(lines);
  }

  /**
   * One measure of one workload.
   *
   * @param workload with its pool
   * @param peer the one with the lowest mean
   * @param ratio over the peer's
   * @param behind whether it is further behind than it should be
   * @param worse whether it is further behind than is known
   */
  public record Line(
      String workload, String peer, Measure measure, double ratio, boolean behind, boolean worse) {}

  /**
   * Holds a policy against the others that ran on the same workload.
   *
   * @param subject its name
   * @param peers of whom the best counts
   * @param known shares by which its TTFT p99 is known to be behind, by workload, where that is
   *     more than it should be
   */
  public static PeerReport of(
      List<RunResult> runs, String subject, List<String> peers, Map<String, Double> known) {
    List<Row> rows = GateBaseline.of(runs).rows();
    List<Line> lines = new ArrayList<>();
    for (Row row : rows) {
      if (row.cell().policy().equals(subject)) {
        rows.stream()
            .filter(other -> peers.contains(other.cell().policy()))
            .filter(other -> other.cell().workload().equals(row.cell().workload()))
            .filter(other -> other.cell().pool().equals(row.cell().pool()))
            .min(Comparator.comparingDouble(other -> other.mean(Measure.END_TO_END_MEAN)))
            .ifPresent(best -> MEASURES.forEach(each -> lines.add(line(row, best, each, known))));
      }
    }
    return new PeerReport(lines);
  }

  private static Line line(Row row, Row best, Measure measure, Map<String, Double> known) {
    double allowed = GateReport.tolerance(measure);
    if (measure == Measure.TTFT_P99) {
      allowed = known.getOrDefault(row.cell().workload(), allowed);
    }
    double ratio = row.mean(measure) / best.mean(measure);
    double behind = measure.better() == Measure.Better.LESS ? ratio - 1 : 1 - ratio;
    return new Line(
        row.cell().workload() + " on " + row.cell().pool(),
        best.cell().policy(),
        measure,
        ratio,
        behind > GateReport.tolerance(measure),
        // A ratio that is none is no pass.
        !(behind <= allowed));
  }

  /** Whether it is nowhere too far behind, and was compared at all. */
  public boolean passed() {
    return !lines.isEmpty() && lines.stream().noneMatch(Line::worse);
  }

  /** A table, and what it comes to. */
  public List<String> text() {
    var table = new TextTable("workload", "best peer", "measure", "over its", "verdict");
    for (Line line : lines) {
      table.row(
          line.workload(),
          line.peer(),
          line.measure().title(),
          String.format(Locale.ROOT, "×%.3f", line.ratio()),
          line.worse() ? "WORSE" : line.behind() ? "behind, as is known" : "no worse");
    }
    List<String> text = new ArrayList<>(table.lines());
    long failed = lines.stream().filter(Line::worse).count();
    long behind = lines.stream().filter(Line::behind).count();
    text.add("");
    text.add(
        passed()
            ? "beside the best peer of each workload: no worse in %d of %d, behind as is known in %d"
                .formatted(lines.size() - behind, lines.size(), behind)
            : "FAILED beside the best peer: %d of %d".formatted(failed, lines.size()));
    return List.copyOf(text);
  }
}
