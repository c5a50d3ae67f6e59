package io.fairlead.lab.report;

import io.fairlead.lab.simulator.Distribution;
import java.util.List;

/**
 * A distribution as a line: the mean over seeds at each rank, so that it runs through the very
 * quantiles of the tables.
 *
 * @param values rising
 * @param shares of the requests that a value is not exceeded by
 */
@SuppressWarnings("ArrayRecordComponent") // a pair to hand on, never compared
record Cdf(double[] values, double[] shares) {

  static Cdf of(List<Distribution> seeds, int points) {
    List<Distribution> known = seeds.stream().filter(seed -> seed.count() > 0).toList();
    if (known.isEmpty()) {
      return new Cdf(new double[0], new double[0]);
    }
    double[] values = new double[points];
    double[] shares = new double[points];
    for (int i = 0; i < points; i++) {
      double share = (double) i / (points - 1);
      shares[i] = share;
      values[i] = known.stream().mapToDouble(seed -> seed.quantile(share)).sum() / known.size();
    }
    return new Cdf(values, shares);
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

  /** Neither is the highest that of one unlucky request. */
  double high() {
    return values.length == 0 ? Double.NaN : values[values.length - 1 - values.length / 200];
  }
}
