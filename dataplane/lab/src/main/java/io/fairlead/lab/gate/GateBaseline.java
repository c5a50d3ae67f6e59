package io.fairlead.lab.gate;

import io.fairlead.lab.report.Measure;
import io.fairlead.lab.simulator.RunResult;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the gate's runs came to when somebody last looked at them and found them good.
 *
 * @param rows in the order of the runs
 */
public record GateBaseline(List<Row> rows) {

  /** What counts: few, and such that they move only when scheduling does. */
  public static final List<Measure> MEASURES =
      List.of(
          Measure.END_TO_END_MEAN,
          Measure.TTFT_P90,
          Measure.TTFT_P99,
          Measure.REQUESTS_PER_SECOND,
          Measure.HIT_RATE,
          Measure.REJECTED_SHARE);

  private static final String RESOURCE = "gate-baseline.json";

  /** What to do when the baseline is to change; the file is that of the source tree. */
  static final String UPDATE =
      "--gate --update dataplane/lab/src/main/resources/io/fairlead/lab/gate/" + RESOURCE;

  /**
   * @throws IllegalArgumentException when two rows are of the same cell of the matrix
   */
  public GateBaseline {
    rows = List.copyOf(rows);
    var keys = new HashSet<MatrixCell>();
    for (Row row : rows) {
      if (!keys.add(row.cell())) {
        throw new IllegalArgumentException("two rows for " + row.cell());
      }
    }
  }

  /** What runs are compared by. */
  public record MatrixCell(String workload, String pool, String policy) {

    @Override
    public String toString() {
      return workload + " on " + pool + ", " + policy;
    }
  }

  /**
   * One policy on one workload.
   *
   * @param seeds of the runs, rising
   * @param means over the seeds of each of {@link #MEASURES}
   */
  public record Row(MatrixCell cell, List<Long> seeds, Map<Measure, Double> means) {

    public Row {
      seeds = List.copyOf(seeds);
      means = Collections.unmodifiableMap(new EnumMap<>(means));
    }

    /** Mean of one of {@link #MEASURES}. */
    public double mean(Measure measure) {
      Double mean = means.get(measure);
      if (mean == null) {
        throw new IllegalArgumentException(cell + " has no " + measure.id());
      }
      return mean;
    }
  }

  /**
   * What these runs come to.
   *
   * @throws IllegalArgumentException when two of them are the same, or one has no value
   */
  public static GateBaseline of(List<RunResult> runs) {
    Map<MatrixCell, TreeMap<Long, RunResult>> byCell = new LinkedHashMap<>();
    for (RunResult run : runs) {
      var cell = new MatrixCell(run.workload(), run.pool(), run.policy());
      if (byCell.computeIfAbsent(cell, k -> new TreeMap<>()).put(run.seed(), run) != null) {
        throw new IllegalArgumentException("two runs of " + cell + " with seed " + run.seed());
      }
    }
    List<Row> rows = new ArrayList<>();
    byCell.forEach((cell, seeds) -> rows.add(row(cell, seeds)));
    return new GateBaseline(rows);
  }

  /**
   * The committed one.
   *
   * @throws IOException when there is none or it can't be read
   */
  public static GateBaseline committed() throws IOException {
    try (InputStream in = GateBaseline.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IOException("there is no baseline " + RESOURCE + " yet: make it with " + UPDATE);
      }
      return read(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /**
   * Reads what {@link #json} has written.
   *
   * @throws IOException that names what is wrong
   */
  public static GateBaseline read(String json) throws IOException {
    return GateBaselineFile.read(json);
  }

  /** As it is kept: a row a line, the same for the same rows. */
  public String json() {
    return GateBaselineFile.write(this);
  }

  private static Row row(MatrixCell cell, TreeMap<Long, RunResult> seeds) {
    var means = new EnumMap<Measure, Double>(Measure.class);
    for (Measure measure : MEASURES) {
      double mean = seeds.values().stream().mapToDouble(measure::of).sum() / seeds.size();
      if (!Double.isFinite(mean)) {
        throw new IllegalArgumentException(
            "%s: not every seed of %s has a %s: no request was completed?"
                .formatted(cell, seeds.keySet(), measure.id()));
      }
      means.put(measure, mean);
    }
    return new Row(cell, List.copyOf(seeds.keySet()), means);
  }
}
