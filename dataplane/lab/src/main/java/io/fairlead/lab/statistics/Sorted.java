package io.fairlead.lab.statistics;

import java.util.Arrays;

/** Numbers by their size. */
public final class Sorted {

  private final double[] values;

  private Sorted(double[] values) {
    this.values = values;
  }

  /** These, in any order; the array is left as it is. */
  public static Sorted of(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return new Sorted(sorted);
  }

  /** One by its rank, of which the least has 0. */
  public double get(int rank) {
    return values[rank];
  }

  /** The one in the middle, or the mean of the two there; there must be any. */
  public double median() {
    int half = values.length / 2;
    return values.length % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  }

  /**
   * The least that a share of them does not exceed.
   *
   * @param share above 0, up to 1
   * @return NaN where there are none
   */
  public double quantile(double share) {
    return values.length == 0
        ? Double.NaN
        : values[(int) Math.min(values.length - 1, Math.ceil(share * values.length) - 1)];
  }
}
