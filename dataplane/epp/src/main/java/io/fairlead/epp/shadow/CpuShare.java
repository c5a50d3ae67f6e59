package io.fairlead.epp.shadow;

/**
 * Which share of the requests a shadow is asked about, so that it takes no more than its part of
 * the process's CPU time. All of them, as long as the process has little to do.
 */
final class CpuShare {

  /** Below the twentieth that a shadow may cost: what it costs others is not in its own time. */
  private static final double MOST = 0.035;

  /** A process that uses less than a tenth of a processor is not busy. */
  private static final double BUSY = 0.1;

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
    double part = all <= 0 ? 0 : (double) own / all;
    boolean busy = all >= BUSY * elapsed;
    double wanted = busy && part > 0 ? share * MOST / part : 1;
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
