package io.fairlead.lab.statistics;

import java.util.Arrays;

/**
 * A mean over seeds.
 *
 * @param mean NaN when no seed has a value
 * @param halfWidth of its 95 % confidence interval by Student's t; NaN with fewer than two seeds
 * @param seeds how many have a value
 */
public record Estimate(double mean, double halfWidth, int seeds) {

  private static final double CONFIDENCE = 0.95;

  /** From one value per seed, of which those that are NaN don't count. */
  public static Estimate of(double... values) {
    double[] known = Arrays.stream(values).filter(value -> !Double.isNaN(value)).toArray();
    double mean = known.length == 0 ? Double.NaN : Arrays.stream(known).sum() / known.length;
    return new Estimate(mean, halfWidth(known, mean), known.length);
  }

  /** Half the width of the confidence interval of the mean of these; NaN of fewer than two. */
  public static double halfWidth(double[] values, double mean) {
    int n = values.length;
    if (n < 2) {
      return Double.NaN;
    }
    double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
    return StudentT.bound(CONFIDENCE, n - 1) * Math.sqrt(squares / (n - 1) / n);
  }
}
