package io.fairlead.core.plugins.cost;

import java.util.Arrays;

/**
 * By what each term of a sum is off, learned from sums that were observed: a Kalman filter
 * (recursive least squares with a prior and with forgetting; R. E. Kalman, 1960). Before anything
 * is known the terms are believed to be off by much, all of them alike, and by less among
 * themselves: some observations correct the sum, and many of different proportions its terms.
 */
final class TermFactors {

  /** Standard deviation of what all terms are off by, before the first observation. */
  private static final double ALIKE = 10;

  /** The same of each term beside the others. */
  private static final double UNLIKE = 0.3;

  /** Standard deviation of an observation over what is expected. */
  private static final double NOISE = 0.25;

  /**
   * By how much of that an observation ages what was known, in variances: at rest one weighs some
   * three thousandths.
   */
  private static final double FORGETTING = 2e-6;

  private static final double LEAST = 0.01;
  private static final double MOST = 100;

  /** A term is at most so many times more off than the mean of them. */
  private static final double APART = 4;

  private final int count;
  private final double[] factors;
  private final double[] covariance;
  private final double[] gain;

  /** Factors of 1 for so many terms. */
  TermFactors(int count) {
    this.count = count;
    factors = new double[count];
    covariance = new double[count * count];
    gain = new double[count];
    Arrays.fill(factors, 1);
    loosen(1, ALIKE * ALIKE);
  }

  /** What this term is to be multiplied by; 0.01 to 100. */
  double factor(int term) {
    return factors[term];
  }

  /** The sum that is expected of these terms. */
  double sum(double[] terms) {
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += factors[i] * terms[i];
    }
    return sum;
  }

  /**
   * Learns from a sum.
   *
   * @param terms that it is of, none below 0 and one above
   * @param observed what it came to, above 0
   */
  void observe(double[] terms, double observed) {
    double mean = mean();
    loosen(mean * mean * FORGETTING, 1);
    double expected = sum(terms);
    // Relative to the larger of both: a sum far above what was expected says little of how far.
    double unit = 1 / Math.max(expected, observed);
    double variance = NOISE * NOISE;
    for (int i = 0; i < count; i++) {
      double spread = 0;
      for (int j = 0; j < count; j++) {
        spread += covariance[i * count + j] * terms[j];
      }
      gain[i] = spread * unit;
      variance += gain[i] * terms[i] * unit;
    }
    double surprise = (observed - expected) * unit;
    for (int i = 0; i < count; i++) {
      factors[i] += gain[i] / variance * surprise;
      for (int j = 0; j <= i; j++) {
        double less = covariance[i * count + j] - gain[i] * gain[j] / variance;
        covariance[i * count + j] = less;
        covariance[j * count + i] = less;
      }
    }
    bound();
  }

  /** What was learned: the factors, and then how sure they are. */
  double[] tell() {
    double[] told = Arrays.copyOf(factors, count + covariance.length);
    System.arraycopy(covariance, 0, told, count, covariance.length);
    return told;
  }

  /** Begins with what another has learned, the first numbers of these. */
  void take(double[] told) {
    System.arraycopy(told, 0, factors, 0, count);
    System.arraycopy(told, count, covariance, 0, covariance.length);
    bound();
  }

  /** Makes all that is known less sure: what terms have in common, and each for itself. */
  private void loosen(double scale, double alike) {
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < count; j++) {
        covariance[i * count + j] += scale * (alike + (i == j ? UNLIKE * UNLIKE : 0));
      }
    }
  }

  /** Observations that no factors explain must not make a term negative, or one pay for others. */
  private void bound() {
    double mean = Math.clamp(mean(), LEAST, MOST);
    for (int i = 0; i < count; i++) {
      factors[i] =
          Math.clamp(factors[i], Math.max(LEAST, mean / APART), Math.min(MOST, mean * APART));
    }
  }

  private double mean() {
    double sum = 0;
    for (int i = 0; i < count; i++) {
      sum += Math.max(factors[i], LEAST);
    }
    return sum / count;
  }
}
