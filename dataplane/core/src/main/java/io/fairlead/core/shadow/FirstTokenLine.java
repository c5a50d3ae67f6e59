package io.fairlead.core.shadow;

/**
 * How long first tokens take by how many tokens have to be computed before: a straight line through
 * what was measured, by least squares with exponential forgetting. It is the same line for what was
 * really done and for what a shadow would have done, so that only the work ahead tells them apart.
 */
final class FirstTokenLine {

  /** The last thousand requests or so count. */
  private static final double KEPT = 0.999;

  /** Before anything is measured: an engine of 10,000 prompt tokens a second. */
  private static final double PRIOR_NANOS_PER_TOKEN = 100_000;

  private double weight;
  private double sumTokens;
  private double sumNanos;
  private double sumTokensSquared;
  private double sumTokensNanos;

  /** A first token was measured. */
  void add(double tokens, double nanos) {
    weight = weight * KEPT + 1;
    sumTokens = sumTokens * KEPT + tokens;
    sumNanos = sumNanos * KEPT + nanos;
    sumTokensSquared = sumTokensSquared * KEPT + tokens * tokens;
    sumTokensNanos = sumTokensNanos * KEPT + tokens * nanos;
  }

  /** Time in nanoseconds after so many tokens, at least 0. More work never takes less time. */
  double nanos(double tokens) {
    if (weight == 0) {
      return tokens * PRIOR_NANOS_PER_TOKEN;
    }
    double meanTokens = sumTokens / weight;
    double meanNanos = sumNanos / weight;
    double variance = sumTokensSquared / weight - meanTokens * meanTokens;
    double covariance = sumTokensNanos / weight - meanTokens * meanNanos;
    // All of one length say nothing of the slope; nobody waits less behind more.
    double slope = variance > 1 ? Math.max(0, covariance / variance) : 0;
    return Math.max(0, meanNanos + slope * (tokens - meanTokens));
  }
}
