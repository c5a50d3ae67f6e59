package io.fairlead.lab.simulator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How a quantity is spread, of which only what reports need is kept.
 *
 * @param count how many values there were
 * @param mean of them; NaN when there were none
 * @param quantiles {@link #POINTS} + 1 values, from the least to the largest in equal steps of
 *     rank; empty when there were none
 */
public record Distribution(long count, double mean, List<Double> quantiles) {

  /** Steps from the least value to the largest. */
  public static final int POINTS = 1_000;

  /** No values. */
  public static final Distribution NONE = new Distribution(0, Double.NaN, List.of());

  public Distribution {
    quantiles = List.copyOf(quantiles);
  }

  /** The spread of these values, in any order; the array is left as it is. */
  public static Distribution of(double[] values) {
    if (values.length == 0) {
      return NONE;
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    List<Double> quantiles = new ArrayList<>(POINTS + 1);
    for (int i = 0; i <= POINTS; i++) {
      quantiles.add(sorted[(int) Math.round((double) i / POINTS * (sorted.length - 1))]);
    }
    return new Distribution(values.length, Arrays.stream(sorted).sum() / values.length, quantiles);
  }

  /**
   * The value that a share of the others does not exceed.
   *
   * @param share 0 to 1, e.g. 0.99
   * @return NaN when there are no values
   */
  public double quantile(double share) {
    return quantiles.isEmpty() ? Double.NaN : quantiles.get((int) Math.round(share * POINTS));
  }
}
