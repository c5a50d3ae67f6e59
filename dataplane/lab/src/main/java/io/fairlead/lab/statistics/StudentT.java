package io.fairlead.lab.statistics;

/** Student's t distribution for whole degrees of freedom. */
final class StudentT {

  private static final double HALF_CIRCLE = Math.PI / 2;

  private StudentT() {}

  /**
   * The bound that the distance from 0 stays under with this probability.
   *
   * @param confidence between 0 and 1, e.g. 0.95
   * @param degrees of freedom, 1 or more
   */
  static double bound(double confidence, int degrees) {
    if (degrees < 1 || !(confidence > 0 && confidence < 1)) {
      throw new IllegalArgumentException(
          "confidence %s, degrees of freedom %d: expected between 0 and 1, and at least 1"
              .formatted(confidence, degrees));
    }
    double low = 0;
    double high = HALF_CIRCLE;
    // By bisection over the angle whose tangent is t over the root of the degrees: it is bounded,
    // and the probability is a finite sum of its sine and cosine.
    for (double middle = high / 2; low < middle && middle < high; middle = (low + high) / 2) {
      if (within(middle, degrees) < confidence) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return Math.tan(high) * Math.sqrt(degrees);
  }

  /** Abramowitz and Stegun, 26.7.3 and 26.7.4. */
  private static double within(double angle, int degrees) {
    double sine = Math.sin(angle);
    double cosine = Math.cos(angle);
    boolean odd = degrees % 2 == 1;
    double term = odd ? cosine : 1;
    double sum = degrees == 1 ? 0 : term;
    for (int k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
      term *= cosine * cosine * (k - 1) / k;
      sum += term;
    }
    return odd ? (angle + sine * sum) / HALF_CIRCLE : sine * sum;
  }
}
