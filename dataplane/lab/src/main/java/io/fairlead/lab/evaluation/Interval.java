package io.fairlead.lab.evaluation;

import io.fairlead.lab.statistics.Estimate;
import java.util.Arrays;

/**
 * How far apart two policies are on the same seeds, and how sure that is.
 *
 * @param middle the estimate
 * @param low lower end of the 95 % confidence interval
 * @param high its upper end
 */
public record Interval(double middle, double low, double high) {

  private static final Interval NONE = new Interval(Double.NaN, Double.NaN, Double.NaN);

  /**
   * The ratio of values that belong together pairwise: by Student's t on the logarithms of the
   * pairs' ratios, so that twice as much and half as much weigh the same.
   */
  static Interval ratio(double[] values, double[] others) {
    if (values.length == 0 || Arrays.stream(values).anyMatch(Double::isNaN)) {
      return ofNothing(values, others);
    }
    if (isZero(values) && isZero(others)) {
      return NONE;
    }
    if (values.length > 1 && Arrays.equals(values, others)) {
      return new Interval(1, 1, 1);
    }
    if (values.length > 1 && isZero(values) && Arrays.stream(others).allMatch(other -> other > 0)) {
      return new Interval(0, 0, 0);
    }
    double[] logs = new double[values.length];
    for (int i = 0; i < logs.length; i++) {
      logs[i] = Math.log(values[i] / others[i]);
      if (!Double.isFinite(logs[i])) {
        return ofNothing(values, others);
      }
    }
    Interval log = ofMean(logs);
    return new Interval(Math.exp(log.middle), Math.exp(log.low), Math.exp(log.high));
  }

  private static boolean isZero(double[] values) {
    return values.length > 0 && Arrays.stream(values).allMatch(value -> value == 0);
  }

  /** Whether there is anything to compare: 0 beside 0 has no ratio. */
  boolean known() {
    return !Double.isNaN(low);
  }

  /** Where something is 0 or isn't there in a seed no ratio of it is sure. */
  private static Interval ofNothing(double[] values, double[] others) {
    double ratio = Arrays.stream(values).sum() / Arrays.stream(others).sum();
    return new Interval(ratio, 0, Double.POSITIVE_INFINITY);
  }

  /** The difference of values that belong together pairwise; not sure where there are none. */
  static Interval difference(double[] values, double[] others) {
    if (Arrays.stream(values).anyMatch(Double::isNaN)
        || Arrays.stream(others).anyMatch(Double::isNaN)) {
      return new Interval(Double.NaN, Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY);
    }
    double[] differences = new double[values.length];
    for (int i = 0; i < differences.length; i++) {
      differences[i] = values[i] - others[i];
    }
    return ofMean(differences);
  }

  private static Interval ofMean(double[] values) {
    Estimate mean = Estimate.of(values);
    double half = mean.seeds() < 2 ? Double.POSITIVE_INFINITY : mean.halfWidth();
    return new Interval(mean.mean(), mean.mean() - half, mean.mean() + half);
  }
}
