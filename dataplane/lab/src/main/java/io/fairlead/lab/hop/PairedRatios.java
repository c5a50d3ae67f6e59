package io.fairlead.lab.hop;

import io.fairlead.lab.statistics.Sorted;
import java.util.ArrayList;
import java.util.List;

/**
 * How many times as much one thing cost as another that was measured right beside it, again and
 * again. What else happens on a machine changes slower than turns do, so that it weighs on both of
 * a pair alike; the median of the pairs' ratios is not moved by the few in which it did not.
 */
final class PairedRatios {

  /** Fewer have no interval: even all of them miss the true median more often than that. */
  static final int FEWEST = 6;

  private static final double OUTSIDE = 0.05;

  private final List<Double> ratios = new ArrayList<>();

  /** Both cost something. */
  void add(double cost, double beside) {
    if (!(cost > 0) || !(beside > 0)) {
      throw new IllegalArgumentException("no ratio of " + cost + " to " + beside);
    }
    ratios.add(cost / beside);
  }

  int count() {
    return ratios.size();
  }

  double median() {
    return sorted().median();
  }

  /** Below the true median with its counterpart {@link #high} above it, 95 times in 100. */
  double low() {
    return sorted().get(outer());
  }

  double high() {
    return sorted().get(ratios.size() - 1 - outer());
  }

  private Sorted sorted() {
    return Sorted.of(ratios.stream().mapToDouble(Double::doubleValue).toArray());
  }

  /**
   * Whether a ratio is above the true median is the toss of a coin, whatever the ratios' own
   * distribution: so many at each end are left out as rarely lie on one side.
   */
  private int outer() {
    int count = ratios.size();
    if (count < FEWEST) {
      throw new IllegalStateException("expected " + FEWEST + " pairs at least, got " + count);
    }
    double exactly = Math.pow(0.5, count);
    double beyond = exactly;
    int left = 0;
    while (2 * (beyond + exactly * (count - left) / (left + 1)) <= OUTSIDE) {
      exactly *= (count - left) / (double) (left + 1);
      beyond += exactly;
      left++;
    }
    return left;
  }
}
