package io.fairlead.lab.workload;

import java.util.SplittableRandom;

/** Times that only go forward, with gaps drawn one by one. */
final class ArrivalTimes {

  private final Spread gapSeconds;
  private final SplittableRandom random;
  private final Surge surge;
  private double at;

  /**
   * A time in which more comes.
   *
   * @param from second of the run in which it begins
   * @param to second in which it is over
   * @param factor how many times as much
   */
  record Surge(double from, double to, double factor) {

    static final Surge NONE = new Surge(0, 0, 1);

    /** When that is of a steady stream, in which a second of the surge counts for several. */
    private double seconds(double steady) {
      double over = from + (to - from) * factor;
      if (steady <= from) {
        return steady;
      }
      return steady < over ? from + (steady - from) / factor : to + steady - over;
    }
  }

  ArrivalTimes(Spread gapSeconds, SplittableRandom random) {
    this(gapSeconds, random, Surge.NONE);
  }

  /** Gaps are those outside of the surge. */
  ArrivalTimes(Spread gapSeconds, SplittableRandom random, Surge surge) {
    this.gapSeconds = gapSeconds;
    this.random = random;
    this.surge = surge;
  }

  /** The next one, in nanoseconds since the start of the run. */
  long next() {
    at += gapSeconds.draw(random);
    return (long) (1e9 * surge.seconds(at));
  }
}
