package io.fairlead.epp.shadow;

/**
 * Which share of the requests a shadow is asked about, so that it takes no more than its part of
 * the process's CPU time. All of them, as long as it takes next to nothing.
 */
final class CpuShare {

  /**
   * Well below the twentieth that a shadow may cost: what it costs others, who hand requests over
   * to it and collect its garbage, is not in its own time.
   */
  private static final double MOST = 0.015;

  /**
   * Of one processor: so much it may take of a process that does little, too. Its thread wakes up
   * for nothing now and then, and that alone is more than a small share of what an idle process
   * uses; to leave requests out would not save it.
   */
  private static final double LITTLE = 0.01;

  private static final double LEAST = 1.0 / 256;

  private double share = 1;
  private double owed;

  /**
   * Some time has passed.
   *
   * @param elapsed of the clock, in nanoseconds, above 0
   * @param own CPU time of the shadow meanwhile
   * @param all CPU time of the process meanwhile
   */
  void passed(long elapsed, long own, long all) {
    double allowed = Math.max(MOST * all, LITTLE * elapsed);
    double wanted = own > 0 ? share * allowed / own : 1;
    // Step by step upwards: a share that was too large costs at once.
    share = Math.clamp(wanted, LEAST, Math.min(1, share * 1.5));
  }

  /** Whether the next request is one of that share: evenly spread. */
  boolean next() {
    owed += share;
    if (owed < 1) {
      return false;
    }
    owed -= 1;
    return true;
  }

  double share() {
    return share;
  }
}
