package io.fairlead.core.health;

/** How often something happens to requests: a mean, of the last fifty or so. */
final class UsualShare {

  /** What one request changes. */
  private static final double LEARNING = 0.02;

  /** Requests that stand for what is not known. */
  private static final int UNKNOWN = 10;

  private double mean = 0.1;
  private int told;

  /**
   * One more request.
   *
   * @param happened 1 where it happened to it, else 0
   */
  void add(int happened) {
    told = Math.min(told + 1, 1_000);
    mean += Math.max(1.0 / (told + UNKNOWN), LEARNING) * (happened - mean);
  }

  /** From 0 to 1. */
  double mean() {
    return mean;
  }
}
