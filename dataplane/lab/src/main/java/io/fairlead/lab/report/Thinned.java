package io.fairlead.lab.report;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/**
 * Something over time in few enough points to draw.
 *
 * @param xs seconds, the middle of each stretch
 * @param ys the highest value of each; NaN where there is none, so that no peak is lost
 */
@SuppressWarnings("ArrayRecordComponent") // a pair to hand on, never compared
record Thinned(double[] xs, double[] ys) {

  /** The highest value of each stretch. */
  static Thinned peaks(double stepSeconds, List<Double> values, int points) {
    return of(stepSeconds, values, points, stretch -> stretch.max().orElse(Double.NaN));
  }

  /** The lowest value of each stretch. */
  static Thinned lows(double stepSeconds, List<Double> values, int points) {
    return of(stepSeconds, values, points, stretch -> stretch.min().orElse(Double.NaN));
  }

  private static Thinned of(
      double stepSeconds,
      List<Double> values,
      int points,
      ToDoubleFunction<DoubleStream> ofStretch) {
    int length = Math.ceilDiv(Math.max(1, values.size()), points);
    int n = Math.ceilDiv(values.size(), length);
    double[] xs = new double[n];
    double[] ys = new double[n];
    double[] all = values.stream().mapToDouble(Double::doubleValue).toArray();
    for (int i = 0; i < n; i++) {
      int from = i * length;
      int to = Math.min(all.length, from + length);
      xs[i] = stepSeconds * (from + to - 1) / 2;
      ys[i] =
          ofStretch.applyAsDouble(
              Arrays.stream(all, from, to).filter(value -> !Double.isNaN(value)));
    }
    return new Thinned(xs, ys);
  }
}
