package io.fairlead.lab.report;

import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.statistics.Estimate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One policy's runs of one workload.
 *
 * @param policy its name
 * @param seeds of the runs, rising
 * @param cells one for every measure, in their order
 */
public record PolicySummary(String policy, List<Long> seeds, Map<Measure, Cell> cells) {

  /**
   * Policies whose shares of requests without an answer are further apart have served other
   * requests: which of them was faster is not said.
   */
  static final double APART = 0.02;

  public PolicySummary {
    seeds = List.copyOf(seeds);
    cells = Collections.unmodifiableMap(new EnumMap<>(cells));
  }

  /**
   * One measure of one policy.
   *
   * @param value over all its seeds
   * @param versus it beside the reference policy; null where that was not run, or where the measure
   *     is of served requests and these were others
   * @param standing it among all policies of the group; for a measure of served requests among
   *     those alone that left about as few without an answer as any
   */
  public record Cell(Estimate value, @Nullable Versus versus, Standing standing) {}

  /** A policy among others, by the means of one measure. */
  public enum Standing {
    BEST,
    /** A tie with the best by {@link Versus}, or not clearly apart from it. */
    TIES_WITH_BEST,
    OTHER
  }

  /** The value of a measure and how it stands. */
  public Cell cell(Measure measure) {
    return Objects.requireNonNull(cells.get(measure));
  }

  static List<PolicySummary> all(
      Map<String, NavigableMap<Long, RunResult>> policies,
      @Nullable NavigableMap<Long, RunResult> reference) {
    List<PolicySummary> summaries = new ArrayList<>();
    Map<Measure, String> best = best(policies);
    policies.forEach(
        (policy, runs) -> {
          var cells = new EnumMap<Measure, Cell>(Measure.class);
          for (Measure measure : Measure.values()) {
            cells.put(
                measure,
                new Cell(
                    value(measure, runs),
                    reference == null || !ofTheSame(measure, runs, reference)
                        ? null
                        : versus(measure, runs, reference),
                    standing(measure, policy, runs, best.get(measure), policies)));
          }
          summaries.add(new PolicySummary(policy, List.copyOf(runs.keySet()), cells));
        });
    return summaries;
  }

  /** The best policy by each measure; none where there are no two to choose from. */
  private static Map<Measure, String> best(Map<String, NavigableMap<Long, RunResult>> policies) {
    var mostAnswered =
        policies.values().stream().min(Comparator.comparingDouble(PolicySummary::unanswered));
    var best = new EnumMap<Measure, String>(Measure.class);
    for (Measure measure : Measure.values()) {
      var contenders =
          policies.entrySet().stream()
              .filter(each -> ofTheSame(measure, each.getValue(), mostAnswered.orElseThrow()))
              .toList();
      if (contenders.size() < Math.min(2, policies.size())) {
        continue;
      }
      double least = Double.POSITIVE_INFINITY;
      for (var contender : contenders) {
        double mean = value(measure, contender.getValue()).mean();
        double rank = measure.better() == Measure.Better.LESS ? mean : -mean;
        if (rank < least) {
          least = rank;
          best.put(measure, contender.getKey());
        }
      }
    }
    return best;
  }

  private static Standing standing(
      Measure measure,
      String policy,
      NavigableMap<Long, RunResult> runs,
      @Nullable String best,
      Map<String, NavigableMap<Long, RunResult>> policies) {
    if (policy.equals(best)) {
      return Standing.BEST;
    }
    NavigableMap<Long, RunResult> others = best == null ? null : policies.get(best);
    if (others == null || !ofTheSame(measure, runs, others)) {
      return Standing.OTHER;
    }
    return switch (versus(measure, runs, others).verdict()) {
      case TIE, UNCLEAR -> Standing.TIES_WITH_BEST;
      case BETTER, WORSE, ABSENT -> Standing.OTHER;
    };
  }

  /** Whether values of a measure are of about the same requests, as far as it depends on these. */
  private static boolean ofTheSame(
      Measure measure, NavigableMap<Long, RunResult> runs, NavigableMap<Long, RunResult> others) {
    boolean ofServed =
        measure.unit() == Measure.Unit.MILLIS
            || measure == Measure.HIT_RATE
            || measure == Measure.LAST_HIT_RATE;
    return !ofServed || !(Math.abs(unanswered(runs) - unanswered(others)) > APART);
  }

  private static double unanswered(NavigableMap<Long, RunResult> runs) {
    double failed = value(Measure.FAILED_SHARE, runs).mean();
    return value(Measure.REJECTED_SHARE, runs).mean() + (Double.isNaN(failed) ? 0 : failed);
  }

  private static Estimate value(Measure measure, NavigableMap<Long, RunResult> runs) {
    return Estimate.of(runs.values().stream().mapToDouble(measure::of).toArray());
  }

  private static Versus versus(
      Measure measure, NavigableMap<Long, RunResult> runs, NavigableMap<Long, RunResult> others) {
    long[] common =
        runs.keySet().stream().filter(others::containsKey).mapToLong(Long::longValue).toArray();
    double[] values = values(measure, runs, common);
    double[] beside = values(measure, others, common);
    for (int i = 0; i < values.length; i++) {
      // Of two without a bound neither is better: such a pair does not count.
      if (Double.isInfinite(values[i]) && Double.isInfinite(beside[i])) {
        values[i] = Double.NaN;
      }
    }
    return Versus.of(measure.better(), values, beside);
  }

  private static double[] values(
      Measure measure, NavigableMap<Long, RunResult> runs, long[] seeds) {
    return Arrays.stream(seeds)
        .mapToDouble(seed -> measure.of(Objects.requireNonNull(runs.get(seed))))
        .toArray();
  }
}
