package io.fairlead.lab.evaluation;

import io.fairlead.lab.report.Measure;
import io.fairlead.lab.simulator.Flow;
import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.statistics.Estimate;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/**
 * What one contender came to in one case.
 *
 * @param setting of the case
 * @param contender by its name in the plan
 * @param diverged whether more came than was served, for each seed
 * @param values of each of {@link #MEASURES}, one a seed, in the order of the seeds; NaN for none
 * @param flows each flow's mean over the seeds, where there are between two and a dozen
 */
public record Row(
    Setting setting,
    String contender,
    List<Boolean> diverged,
    Map<Measure, List<Double>> values,
    List<Flow> flows) {

  /** What is kept of runs. */
  public static final List<Measure> MEASURES =
      List.of(
          Measure.END_TO_END_MEAN,
          Measure.TTFT_P50,
          Measure.TTFT_P99,
          Measure.TPOT_P50,
          Measure.GOOD_PER_SECOND,
          Measure.REQUESTS_PER_SECOND,
          Measure.SUSTAINED_PER_SECOND,
          Measure.HIT_RATE,
          Measure.LAST_HIT_RATE,
          Measure.JAIN,
          Measure.SERVER_JAIN,
          Measure.SLOWEST_FLOW,
          Measure.REJECTED_SHARE,
          Measure.FAILED_SHARE,
          Measure.PREEMPTIONS);

  private static final int MOST_FLOWS = 12;

  /** What is kept is to be looked at, and compared by 3 %. */
  private static final MathContext DIGITS = new MathContext(5);

  /**
   * Two that leave shares of requests without an answer which differ by no more than this had as
   * good as the same requests to serve: a fifth of those that are slower than the p99.
   */
  private static final double ALIKE = 0.002;

  /** Who leaves more than this without an answer does not serve what comes. */
  private static final double LEFT_OUT = 0.03;

  public Row {
    diverged = List.copyOf(diverged);
    values = Collections.unmodifiableMap(new EnumMap<>(values));
    flows = List.copyOf(flows);
  }

  /**
   * What a case is at one of its loads.
   *
   * @param workload by its name
   * @param load times its own load
   * @param pool servers
   * @param faults what goes wrong; empty for nothing
   */
  public record Setting(String workload, double load, String pool, String faults) {

    /** As readers know it. */
    public String title() {
      return "`%s`%s"
          .formatted(
              load == 1 ? workload : workload + "@" + plain(load),
              faults.isEmpty() ? "" : ", " + faults);
    }

    /** The same with the pool. */
    String fullTitle() {
      return title() + " on `" + pool + "`";
    }
  }

  /** What runs of one contender come to, one run a seed. */
  public static Row of(Setting setting, String contender, List<RunResult> runs) {
    var values = new EnumMap<Measure, List<Double>>(Measure.class);
    for (Measure measure : MEASURES) {
      values.put(measure, runs.stream().map(run -> rounded(measure.of(run))).toList());
    }
    List<Boolean> diverged = runs.stream().map(run -> run.course().diverged()).toList();
    return new Row(setting, contender, diverged, values, flows(runs));
  }

  /** Values of a measure, one a seed. */
  double[] of(Measure measure) {
    return of(measure, seed -> true);
  }

  /** The same of some seeds, by their place. */
  double[] of(Measure measure, IntPredicate seeds) {
    List<Double> all = values.getOrDefault(measure, List.of());
    return IntStream.range(0, all.size()).filter(seeds).mapToDouble(all::get).toArray();
  }

  /** Mean over the seeds that have a value; NaN for none. */
  double mean(Measure measure) {
    return Estimate.of(of(measure)).mean();
  }

  /** Whether it kept up in every seed. */
  boolean neverDiverged() {
    return !diverged.contains(true);
  }

  /** Whether it kept up in more than half of the seeds: to fall behind in one may be its luck. */
  boolean keptUp() {
    return 2 * Collections.frequency(diverged, true) < diverged.size();
  }

  /** Whether it kept up and answered nearly all that came: to refuse is not to serve. */
  public boolean servedAll() {
    return keptUp() && unanswered() <= LEFT_OUT;
  }

  /** Whether it left about the same share of requests without an answer as the other. */
  boolean servedAsManyAs(Row other) {
    return Math.abs(unanswered() - other.unanswered()) <= ALIKE;
  }

  /** Whether it answered a larger share of what came. */
  boolean servedMoreThan(Row other) {
    return unanswered() < other.unanswered() - ALIKE;
  }

  private double unanswered() {
    double rejected = mean(Measure.REJECTED_SHARE);
    double failed = mean(Measure.FAILED_SHARE);
    return (Double.isNaN(rejected) ? 0 : rejected) + (Double.isNaN(failed) ? 0 : failed);
  }

  private static List<Flow> flows(List<RunResult> runs) {
    Map<String, List<Flow>> byName = new LinkedHashMap<>();
    runs.forEach(
        run ->
            run.flows()
                .forEach(
                    flow -> byName.computeIfAbsent(flow.name(), k -> new ArrayList<>()).add(flow)));
    if (byName.size() < 2 || byName.size() > MOST_FLOWS) {
      return List.of();
    }
    return byName.entrySet().stream().map(flow -> mean(flow.getKey(), flow.getValue())).toList();
  }

  private static Flow mean(String name, List<Flow> seeds) {
    return new Flow(
        name,
        mean(seeds, Flow::arrived),
        mean(seeds, Flow::completed),
        mean(seeds, Flow::rejected),
        mean(seeds, Flow::good),
        rounded(ofServed(seeds, Flow::meanMs)),
        rounded(ofServed(seeds, Flow::ttftP99Ms)));
  }

  private static long mean(List<Flow> seeds, ToLongFunction<Flow> count) {
    return seeds.stream().mapToLong(count).sum() / seeds.size();
  }

  private static double ofServed(List<Flow> seeds, ToDoubleFunction<Flow> value) {
    return Estimate.of(seeds.stream().mapToDouble(value).toArray()).mean();
  }

  private static double rounded(double value) {
    return Double.isFinite(value) && value != 0
        ? new BigDecimal(value).round(DIGITS).doubleValue()
        : value;
  }

  static String plain(double number) {
    return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
  }
}
