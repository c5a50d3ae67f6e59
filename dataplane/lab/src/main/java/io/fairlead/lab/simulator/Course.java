package io.fairlead.lab.simulator;

import java.util.List;

/**
 * Whether a pool kept up with what came. The window is the time between the end of the warm-up and
 * the last arrival: what is served after it, when nothing comes any more, says nothing of a load.
 *
 * @param windowSeconds length of the window
 * @param arrived requests that came in the window
 * @param completed answers that ended in the window, whenever they had begun
 * @param grown by how many more requests were there at its end than at its beginning
 * @param meanInFirstHalf requests that were there, on average over its first half
 * @param meanInSecondHalf the same over its second half
 * @param lastHitRate share of cached tokens in the prompts of the last {@value #LAST} completed
 * @param hitRates the same in each tenth of the run, by when answers ended; NaN where none did
 */
public record Course(
    double windowSeconds,
    long arrived,
    long completed,
    long grown,
    double meanInFirstHalf,
    double meanInSecondHalf,
    double lastHitRate,
    List<Double> hitRates) {

  /** So many requests are the last ones. */
  public static final int LAST = 1_000;

  /** Of a run that was not looked at. */
  public static final Course UNKNOWN =
      new Course(0, 0, 0, 0, Double.NaN, Double.NaN, Double.NaN, List.of());

  private static final double GROWTH = 1.2;
  private static final double LEFT_OVER = 0.05;

  public Course {
    hitRates = List.copyOf(hitRates);
  }

  /** Completed requests per second of the window: what the pool can do, if it can't keep up. */
  public double sustainedPerSecond() {
    return windowSeconds > 0 ? completed / windowSeconds : Double.NaN;
  }

  /**
   * Whether more came than was served, so that every latency is one of how long the run was: on
   * average at least 1.2 times as many requests were there in the second half of the window as in
   * the first, and by its end more than 5 % of what had come in it was added to them. Bursts do the
   * one, a few requests more the other.
   */
  public boolean diverged() {
    return meanInSecondHalf > GROWTH * meanInFirstHalf && grown > LEFT_OVER * arrived;
  }
}
