package io.fairlead.lab.report;

import io.fairlead.lab.simulator.Distribution;
import java.util.List;

/**
 * A distribution as a line: the mean over seeds at each rank, so that it runs through the very
 * quantiles of the tables. Ranks are the closer to each other the nearer they are to the end of the
 * tail.
 *
 * @param values rising
 * @param left shares of the requests that exceed a value, falling from 1
 */
@SuppressWarnings("ArrayRecordComponent") // a pair to hand on, never compared
record Cdf(double[] values, double[] left) {

  static Cdf of(List<Distribution> seeds, int points) {
    List<Distribution> known = seeds.stream().filter(seed -> seed.count() > 0).toList();
    if (known.isEmpty()) {
      return new Cdf(new double[0], new double[0]);
    }
    double[] values = new double[points];
    double[] left = new double[points];
    for (int i = 0; i < points; i++) {
      left[i] = Math.pow(Axis.LEAST_LEFT, (double) i / (points - 1));
      double share = 1 - left[i];
      values[i] = known.stream().mapToDouble(seed -> seed.quantile(share)).sum() / known.size();
    }
    return new Cdf(values, left);
  }

  /** The least value that a logarithmic axis should show: not that of one lucky request. */
  double low() {
    for (int i = values.length / 100; i < values.length; i++) {
      if (values[i] > 0) {
        return values[i];
      }
    }
    return Double.NaN;
  }

  /** The end of the tail that is drawn, which is not the highest of all. */
  double high() {
    return values.length == 0 ? Double.NaN : values[values.length - 1];
  }
}
