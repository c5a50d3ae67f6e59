package io.fairlead.core.flow;

/** How many requests go in a second, averaged over the last seconds of a clock. */
final class DispatchRate {

  private static final double SECOND = 1e9;

  private final double memory;
  private final long since;
  private long at;
  private double counted;

  /**
   * None has gone yet.
   *
   * @param seconds what went so long ago counts for a third
   */
  DispatchRate(long now, double seconds) {
    memory = seconds * SECOND;
    since = now;
    at = now;
  }

  /** A request went. */
  void add(long now) {
    fade(now);
    counted++;
  }

  private void fade(long now) {
    counted *= Math.exp(-Math.max(0, now - at) / memory);
    at = now;
  }

  /** Requests a second; 0 as long as none has gone. */
  double perSecond(long now) {
    fade(now);
    // At the beginning there are fewer seconds to look back on than later.
    double seconds = -Math.expm1(-(now - since) / memory) * memory / SECOND;
    return counted == 0 || seconds == 0 ? 0 : counted / seconds;
  }
}
