package io.fairlead.core.health;

/**
 * Whether the answers of one endpoint that are cut right after they began are the endpoint's doing,
 * as one is that sends a head and closes: a proxy shows them like those that clients leave.
 *
 * <p>A sum of log-likelihood ratios, never below zero (Page, "Continuous Inspection Schemes",
 * Biometrika 41, 1954): each answer tells how much likelier it is of a server that cuts half of
 * those that clients leave it than of one whose answers are cut as often as is usual in the pool.
 * So it is of no matter whether whole ones come between them, and where clients leave early all the
 * time, more is needed.
 */
final class CutSuspicion {

  /** Cut sooner after its head, an answer counts: however slow it is to come, or to be seen. */
  static final long AT_ONCE = 200_000_000;

  /** What a server that is sick cuts of answers that clients don't. */
  private static final double SICK = 0.5;

  private static final double LEAST_USUAL = 0.02;
  private static final double MOST_USUAL = 0.95;

  /** Up to that share few are usual. */
  private static final double FEW = 0.05;

  /**
   * So many times likelier that it is sick is enough where few are usual: two in a row. It is so by
   * chance once in as many answers at most, of which few are cut.
   */
  private static final double ENOUGH = Math.log(150);

  /** And where more are. */
  private static final double ENOUGH_OF_MANY = Math.log(20_000);

  private double sum;

  /** When the first request was sent that counts. */
  private long beganAt;

  /** What was sent before that was tried since. */
  private long triedAt = Long.MIN_VALUE;

  /**
   * An answer was cut at once.
   *
   * @param usual share of them that are, in the pool
   * @return whether the endpoint is suspicious
   */
  boolean cut(long sentAt, double usual) {
    if (isOfBefore(sentAt, triedAt)) {
      return false;
    }
    if (sum == 0) {
      beganAt = sentAt;
    }
    double share = bounded(usual);
    sum = Math.min(sum + Math.log((share + SICK * (1 - share)) / share), ENOUGH_OF_MANY);
    return !isUsual(usual);
  }

  /**
   * An answer came whole.
   *
   * @return whether nothing is left against the endpoint
   */
  boolean whole(long sentAt) {
    if (sum > 0 && !isOfBefore(sentAt, beganAt)) {
      sum = Math.max(0, sum + Math.log(1 - SICK));
    }
    return sum == 0;
  }

  /** Whether what is cut tells what is usual: of one that looks sick, it doesn't. */
  boolean isUsual(double usual) {
    return sum < (usual <= FEW ? ENOUGH : ENOUGH_OF_MANY);
  }

  /** It was tried, and served: what it was sent before says no more. */
  void served(long now) {
    sum = 0;
    triedAt = now;
  }

  void forget() {
    sum = 0;
  }

  /** A server that is well finishes what it had, and so does one that is sick since. */
  private static boolean isOfBefore(long sentAt, long then) {
    return then != Long.MIN_VALUE && sentAt - then < 0;
  }

  private static double bounded(double usual) {
    return Math.clamp(usual, LEAST_USUAL, MOST_USUAL);
  }
}
