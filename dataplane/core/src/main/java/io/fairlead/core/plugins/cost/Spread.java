package io.fairlead.core.plugins.cost;

/** By how much values differ, each of which counts for as much as is known of it. */
final class Spread {

  private double weight;
  private double sum;
  private double squares;

  /** Begins anew. */
  void clear() {
    weight = 0;
    sum = 0;
    squares = 0;
  }

  /**
   * One more value.
   *
   * @param known what it counts for, 0 for nothing
   */
  void add(double value, double known) {
    weight += known;
    sum += known * value;
    squares += known * value * value;
  }

  /** Weighted variance; 0 before anything is known. */
  double variance() {
    if (weight == 0) {
      return 0;
    }
    double mean = sum / weight;
    return Math.max(0, squares / weight - mean * mean);
  }
}
