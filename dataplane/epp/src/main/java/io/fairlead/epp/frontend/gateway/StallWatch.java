package io.fairlead.epp.frontend.gateway;

/**
 * Tells a client that stopped reading from a slow one. Looked at now and then while bytes wait for
 * the client and none are added; so a stop is noticed a little after the bound.
 */
final class StallWatch {

  /** Looks within the bound: a stop is noticed two looks after it at the latest. */
  private static final int LOOKS = 20;

  private final long bound;
  private long least;
  private long progressAt;

  /** A watch that allows {@code bound} nanoseconds without progress. */
  StallWatch(long bound) {
    this.bound = bound;
  }

  /** Starts over: bytes were taken, or begin to wait. */
  void restart(long now) {
    least = Long.MAX_VALUE;
    progressAt = now;
  }

  /** Whether the client has taken nothing for too long. */
  boolean stalled(long now, long waiting) {
    if (waiting < least) {
      least = waiting;
      progressAt = now;
    }
    return now - progressAt >= bound;
  }

  /** Nanoseconds from one look to the next. */
  long pause() {
    return Math.max(1, bound / LOOKS);
  }
}
