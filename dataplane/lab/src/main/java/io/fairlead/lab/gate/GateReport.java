package io.fairlead.lab.gate;

import io.fairlead.lab.gate.GateBaseline.MatrixCell;
import io.fairlead.lab.gate.GateBaseline.Row;
import io.fairlead.lab.report.Measure;
import io.fairlead.lab.report.Shown;
import io.fairlead.lab.report.TextTable;
import io.fairlead.lab.simulator.RunResult;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Runs held against the baseline.
 *
 * @param lines one for each measure of each row of the baseline, then those that it doesn't have
 */
public record GateReport(List<Line> lines) {

  /** How much worse, as a share of the baseline, is too much. */
  public static final double TOLERANCE = 0.03;

  /** The same of the TTFT's p99, which a few requests make. */
  public static final double TAIL_TOLERANCE = 0.1;

  /**
   * Where next to nothing is shared or rejected, 3 % of it is chance: less than half a point never
   * counts.
   */
  private static final double LEAST_SHARE = 0.005;

  /** Keeps a change of exactly the tolerance within it, whatever the last digit is rounded to. */
  private static final double ROUNDING = 1e-9;

  public GateReport {
    lines = List.copyOf(lines);
  }

  /** What has become of a measure. */
  public enum Verdict {
    SAME("same", false),
    WITHIN("within bounds", false),
    BETTER("better", false),
    WORSE("WORSE", true),
    /** The baseline has it, the runs don't. */
    MISSING("NOT RUN", true),
    /** Run with other seeds than the baseline, so that nothing follows from the difference. */
    OTHER_SEEDS("OTHER SEEDS", true),
    /** The runs have it, the baseline doesn't. */
    NEW("new, not in the baseline", false);

    private final String word;
    private final boolean failure;

    Verdict(String word, boolean failure) {
      this.word = word;
      this.failure = failure;
    }
  }

  /**
   * One measure of one policy on one workload.
   *
   * @param baseline NaN when it is new
   * @param now NaN when it is missing
   */
  public record Line(
      MatrixCell cell, Measure measure, double baseline, double now, Verdict verdict) {

    /** Change as a share of the baseline; infinite over 0, NaN where one of them isn't there. */
    public double change() {
      return now == baseline ? 0 : (now - baseline) / baseline;
    }
  }

  /**
   * Holds runs against a baseline.
   *
   * @throws IllegalArgumentException as {@link GateBaseline#of} does
   */
  public static GateReport of(GateBaseline baseline, List<RunResult> runs) {
    Map<MatrixCell, Row> now = new LinkedHashMap<>();
    GateBaseline.of(runs).rows().forEach(row -> now.put(row.cell(), row));
    List<Line> lines = new ArrayList<>();
    for (Row before : baseline.rows()) {
      Row after = now.remove(before.cell());
      for (Measure measure : GateBaseline.MEASURES) {
        double was = before.mean(measure);
        double is = after == null ? Double.NaN : after.mean(measure);
        Verdict verdict =
            after == null
                ? Verdict.MISSING
                : after.seeds().equals(before.seeds())
                    ? verdict(measure, was, is)
                    : Verdict.OTHER_SEEDS;
        lines.add(new Line(before.cell(), measure, was, is, verdict));
      }
    }
    for (Row added : now.values()) {
      for (Measure measure : GateBaseline.MEASURES) {
        lines.add(new Line(added.cell(), measure, Double.NaN, added.mean(measure), Verdict.NEW));
      }
    }
    return new GateReport(lines);
  }

  /** Whether some row is worse by this measure. */
  public boolean worseBy(Measure measure) {
    return lines.stream()
        .anyMatch(line -> line.measure() == measure && line.verdict() == Verdict.WORSE);
  }

  /** Whether nothing is worse and nothing missing. */
  public boolean passed() {
    return lines.stream().noneMatch(line -> line.verdict().failure);
  }

  /** A table of everything, what it comes to, and what to do. */
  public List<String> text() {
    var table =
        new TextTable("workload, policy", "measure", "baseline", "now", "change", "verdict");
    for (Line line : lines) {
      table.row(
          line.cell().toString(),
          line.measure().title(),
          Shown.value(line.measure(), line.baseline()),
          Shown.value(line.measure(), line.now()),
          percent(line.change()),
          line.verdict().word);
    }
    List<String> text = new ArrayList<>(table.lines());
    text.add("");
    long failed = lines.stream().filter(line -> line.verdict().failure).count();
    text.add(
        failed == 0
            ? "gate passed: nothing is more than 3 % worse, no TTFT p99 more than 10 %"
            : "gate FAILED: %d of %d measures".formatted(failed, lines.size()));
    if (has(Verdict.BETTER) || has(Verdict.NEW)) {
      text.add("better or new values are held only once they are committed as the baseline:");
      text.add("  " + GateBaseline.UPDATE);
    }
    if (has(Verdict.MISSING) || has(Verdict.OTHER_SEEDS)) {
      text.add("the matrix differs from the baseline's; if that is meant:");
      text.add("  " + GateBaseline.UPDATE);
    }
    return List.copyOf(text);
  }

  private boolean has(Verdict verdict) {
    return lines.stream().anyMatch(line -> line.verdict() == verdict);
  }

  static double tolerance(Measure measure) {
    return measure == Measure.TTFT_P99 ? TAIL_TOLERANCE : TOLERANCE;
  }

  private static Verdict verdict(Measure measure, double baseline, double now) {
    if (now == baseline) {
      return Verdict.SAME;
    }
    double worse = measure.better() == Measure.Better.LESS ? now - baseline : baseline - now;
    double bound = (tolerance(measure) + ROUNDING) * baseline;
    if (measure == Measure.HIT_RATE || measure == Measure.REJECTED_SHARE) {
      bound = Math.max(bound, LEAST_SHARE);
    }
    return worse > bound ? Verdict.WORSE : -worse > bound ? Verdict.BETTER : Verdict.WITHIN;
  }

  private static String percent(double change) {
    return Double.isNaN(change)
        ? "–"
        : Double.isInfinite(change)
            ? "from 0"
            : String.format(Locale.ROOT, "%+.1f %%", change * 100);
  }
}
