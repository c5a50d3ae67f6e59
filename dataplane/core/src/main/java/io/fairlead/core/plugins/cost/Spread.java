package io.fairlead.core.plugins.cost;

/**
 * By how much values differ beyond the noise of what they were found by: the method of moments,
 * with each counting for as much as is known of it.
 */
final class Spread {

  /** What counts for less says nothing; numbers near the least that there are overflow. */
  private static final double LEAST_KNOWN = 1e-9;

  private double weight;
  private double sum;
  private double squares;
  private double noise;

  /** Begins anew. */
  void clear() {
    weight = 0;
    sum = 0;
    squares = 0;
    noise = 0;
  }

  /**
   * One more value.
   *
   * @param known what it counts for, 0 for nothing
   * @param variance that it has by chance
   */
  void add(double value, double known, double variance) {
    if (known < LEAST_KNOWN) {
      return;
    }
    weight += known;
    sum += known * value;
    squares += known * value * value;
    noise += known * variance;
  }

  /** Variance beyond chance; 0 before anything is known. */
  double variance() {
    if (weight == 0) {
      return 0;
    }
    double mean = sum / weight;
    return Math.max(0, (squares - noise) / weight - mean * mean);
  }
}
