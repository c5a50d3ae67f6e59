package io.fairlead.epp.frontend.gateway;

/**
 * Tells a client that doesn't read from a slow one. Looked at now and then while bytes wait for the
 * client: it has so much time, which passes, and gets more of it by what it takes, so that a byte
 * now and then gains nothing.
 */
final class StallWatch {

  /** Looks within the bound: that the time is over is noticed a look later at the latest. */
  private static final int LOOKS = 20;

  private final long bound;
  private final double nanosPerByte;
  private long left;
  private long at;
  private long taken;

  /** A watch that allows {@code bound} nanoseconds, and each byte as long as at this rate. */
  StallWatch(long bound, int bytesPerSecond) {
    this.bound = bound;
    nanosPerByte = 1e9 / bytesPerSecond;
  }

  /**
   * Starts over: nothing of what waits now has waited before.
   *
   * @param soFar bytes that the client has taken, from any beginning on
   */
  void restart(long now, long soFar) {
    left = bound;
    at = now;
    taken = soFar;
  }

  /** Time has passed in which something waited. */
  void pass(long now, long soFar) {
    long gained = (long) (Math.max(0, soFar - taken) * nanosPerByte);
    left = Math.min(bound, left - (now - at) + gained);
    at = now;
    taken = soFar;
  }

  /** Time has passed in which nothing did. */
  void skip(long now) {
    at = now;
  }

  /** Whether the client has had its time. */
  boolean isOver() {
    return left <= 0;
  }

  /** Nanoseconds from one look to the next. */
  long pause() {
    return Math.max(1, bound / LOOKS);
  }
}
