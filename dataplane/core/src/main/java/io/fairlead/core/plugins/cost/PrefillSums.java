package io.fairlead.core.plugins.cost;

/**
 * How much slower prefills were than they should have been. Sums before ratios: of prefills that
 * were done in one step, the first takes all of the time and the others none, so that single ones
 * tell nothing, and no regression on their lengths would come out right.
 */
final class PrefillSums {

  private final double guess;
  private double taken = 1;
  private double expected = 1;
  private double seen;

  /**
   * Before anything is seen they take as long as expected.
   *
   * @param guess so many observations that counts for; above 0
   */
  PrefillSums(double guess) {
    this.guess = guess;
  }

  /**
   * One more.
   *
   * @param millis that it took
   * @param expectedMillis that it should have taken, above 0
   */
  void add(double millis, double expectedMillis) {
    if (seen == 0) {
      expected = expectedMillis;
      taken = expectedMillis;
    }
    double rate = LearnedSpeeds.rate(++seen, guess);
    expected += rate * (expectedMillis - expected);
    taken += rate * (millis - taken);
  }

  /** Time over expected time; 1 before anything was seen. */
  double slowness() {
    return taken / expected;
  }

  /** Observations that it is of. */
  double seen() {
    return seen;
  }

  /** Only this share of them still counts: it is as if no more had been seen. */
  void fade(double left) {
    double counts = left * (seen + guess) / (left * seen + guess);
    taken = expected + counts * (taken - expected);
    seen *= left;
  }

  double[] tell() {
    return new double[] {taken, expected, seen};
  }

  /** Begins with what another has learned: time taken and expected, and observations. */
  void take(double taken, double expected, double seen) {
    this.taken = taken;
    this.expected = expected;
    this.seen = seen;
  }
}
