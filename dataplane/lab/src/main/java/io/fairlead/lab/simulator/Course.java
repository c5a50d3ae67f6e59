package io.fairlead.lab.simulator;

/**
 * Whether a pool kept up with what came. The window is the time between the end of the warm-up and
 * the last arrival: what is served after it, when nothing comes any more, says nothing of a load.
 *
 * @param windowSeconds length of the window
 * @param arrived requests that came in the window
 * @param completed answers that ended in the window, whenever they had begun
 * @param growth what waits and runs at its end over what did at its beginning, as a share of what
 *     came, both taken once the pool has filled
 * @param standardErrors of the growth by so many it is above 0
 * @param lastHitRate share of cached tokens in the prompts of the last {@value #LAST} completed
 */
public record Course(
    double windowSeconds,
    long arrived,
    long completed,
    double growth,
    double standardErrors,
    double lastHitRate) {

  /** So many requests are the last ones. */
  public static final int LAST = 1_000;

  /** Parts of the window whose growths are compared with each other. */
  static final int PARTS = 20;

  /** Student's bound for one chance in a hundred on one side, with a part less than there are. */
  private static final double SURE = 2.54;

  private static final double LEFT_OVER = 0.03;

  /** Completed requests per second of the window: what the pool can do, if it can't keep up. */
  public double sustainedPerSecond() {
    return windowSeconds > 0 ? completed / windowSeconds : Double.NaN;
  }

  /**
   * Whether more came than was served, so that every latency is one of how long the run was: more
   * than 3 % of what came was left over, and by the spread between parts of the window (the method
   * of batch means: Law, Simulation Modeling and Analysis, 9.5.3) that was not by chance. Where
   * answers are long, as many are there as come in the window, and a few more of them say little.
   */
  public boolean diverged() {
    return growth > LEFT_OVER && standardErrors > SURE;
  }
}
