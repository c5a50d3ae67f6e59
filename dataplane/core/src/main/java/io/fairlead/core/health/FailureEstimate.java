package io.fairlead.core.health;

/**
 * How likely an endpoint fails its next request: the share of failures among the last ones, where
 * older ones count less, by their number and by time, and a few imagined successes stand for what
 * is not known.
 */
final class FailureEstimate {

  /** What one more request leaves of the weight of those before it: some fifty count. */
  private static final double KEPT = 0.98;

  /** In nanoseconds: so long after it, evidence counts half. */
  private static final double HALF_LIFE = 20e9;

  /** Imagined successes: one failure alone makes an estimate of 1 in 5. */
  private static final double UNKNOWN = 4;

  /** Below that a failure is forgotten, so that a well endpoint costs nothing. */
  private static final double NEGLIGIBLE = 0.02;

  /** What a failed request costs, in requests that are served. */
  static final double LOSS = 12;

  private double failures;
  private double successes;
  private long at;

  /**
   * A request failed, or was refused.
   *
   * @param afterAll whether it had been counted as a success, since it had begun
   */
  void failed(long now, boolean afterAll) {
    if (afterAll) {
      successes = Math.max(0, successes - 1);
    }
    age(now);
    failures = failures * KEPT + 1;
    successes *= KEPT;
  }

  void succeeded(long now) {
    age(now);
    failures *= KEPT;
    successes = successes * KEPT + 1;
  }

  /** Lets time pass for what is known. */
  void age(long now) {
    long passed = now - at;
    at = now;
    if (passed > 0 && failures + successes > 0) {
      double left = Math.exp(-Math.log(2) * passed / HALF_LIFE);
      failures *= left;
      successes *= left;
      if (failures < NEGLIGIBLE) {
        failures = 0;
      }
    }
  }

  void forget() {
    failures = 0;
    successes = 0;
  }

  /** From 0 to below 1; exactly 0 where no failure counts any more. */
  double probability() {
    return failures == 0 ? 0 : failures / (failures + successes + UNKNOWN);
  }

  /**
   * What a request costs in requests that are served, its failures counted: 1 where none fail.
   *
   * @param probability that it fails, from 0 to below 1
   */
  static double risk(double probability) {
    return 1 + LOSS * probability / (1 - probability);
  }

  /** Requests that the estimate rests on, as they count. */
  double weight() {
    return failures + successes;
  }
}
