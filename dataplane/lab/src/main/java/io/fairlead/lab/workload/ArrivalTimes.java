package io.fairlead.lab.workload;

import java.util.SplittableRandom;

/** Times that only go forward, with gaps drawn one by one. */
final class ArrivalTimes {

  private final Spread gapSeconds;
  private final SplittableRandom random;
  private double at;

  ArrivalTimes(Spread gapSeconds, SplittableRandom random) {
    this.gapSeconds = gapSeconds;
    this.random = random;
  }

  /** The next one, in nanoseconds since the start of the run. */
  long next() {
    at += 1e9 * gapSeconds.draw(random);
    return (long) at;
  }
}
