package io.fairlead.epp.external;

import java.util.concurrent.TimeUnit;

/**
 * How many messages are taken from a scheduler. One whose answers were asked for has as many as may
 * be on their way; one that sends more answers that nobody asked for is taken one at a time, after
 * pauses that grow: each costs the loop on which requests are decided.
 */
final class ReadPace {

  static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** What answers that were asked for make up for at most: so many others, later on. */
  static final int MOST_SPARE = 1_024;

  private final int most;

  /** Messages that were asked for, and have not come. */
  private int awaited;

  /** Answers that were not asked for which may still come before it is read more slowly. */
  private int spare;

  private long pause;

  /**
   * A stream in which as many were asked for as may be.
   *
   * @param most messages on their way, at least 1
   */
  ReadPace(int most) {
    this.most = most;
    awaited = most;
  }

  /**
   * A message came.
   *
   * @param gain answers in it that were asked for, less those that were not
   * @return how many more to ask for now
   */
  int came(int gain) {
    awaited--;
    spare = Math.min(spare + gain, MOST_SPARE);
    if (spare < 0) {
      spare = 0;
      return 0;
    }
    pause = 0;
    // What was held back comes again once that much has made up for it, lest it be had for little.
    int more = spare == MOST_SPARE ? most - awaited : 1;
    awaited += more;
    return more;
  }

  /** Whether none would come any more: then one is to be asked for after {@link #pause}. */
  boolean isHeldBack() {
    return awaited == 0;
  }

  /** How long to wait before one more is asked for, in nanoseconds; longer each time. */
  long pause() {
    pause = Math.clamp(2 * pause, FIRST_PAUSE_NANOS, LONGEST_PAUSE_NANOS);
    return pause;
  }

  /** One more is asked for. */
  void tookOne() {
    awaited++;
  }
}
