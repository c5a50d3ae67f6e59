package io.fairlead.lab.evaluation;

import io.fairlead.lab.report.Measure;
import io.fairlead.lab.simulator.Flow;
import io.fairlead.lab.simulator.RunResult;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * What one contender came to in one case.
 *
 * @param setting of the case
 * @param contender by its name in the plan
 * @param diverged in how many seeds more came than was served
 * @param values of each of {@link #MEASURES}, one a seed, in the order of the seeds; NaN for none
 * @param flows each flow's mean over the seeds, where there are between two and a dozen
 */
public record Row(
    Setting setting,
    String contender,
    int diverged,
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

  public Row {
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
    int diverged = (int) runs.stream().filter(run -> run.course().diverged()).count();
    return new Row(setting, contender, diverged, values, flows(runs));
  }

  /** Values of a measure, one a seed. */
  double[] of(Measure measure) {
    return values.getOrDefault(measure, List.of()).stream()
        .mapToDouble(Double::doubleValue)
        .toArray();
  }

  /** Mean over the seeds that have a value; NaN for none. */
  double mean(Measure measure) {
    return Arrays.stream(of(measure))
        .filter(value -> !Double.isNaN(value))
        .average()
        .orElse(Double.NaN);
  }

  /** Whether it kept up in every seed. */
  boolean kept() {
    return diverged == 0;
  }

  /** Whether it did not in half of the seeds or more, so that it was not the luck of one. */
  boolean fellBehind() {
    return 2 * diverged >= of(Measure.END_TO_END_MEAN).length;
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
    return seeds.stream()
        .mapToDouble(value)
        .filter(each -> !Double.isNaN(each))
        .average()
        .orElse(Double.NaN);
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
