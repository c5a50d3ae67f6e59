package io.fairlead.epp.external;

import java.util.concurrent.TimeUnit;

/**
 * How many messages are taken from a scheduler. One that sends something of use has as many as may
 * be on their way; one that sends nothing else is taken one at a time, after pauses that grow,
 * since reading a message costs before anything in it can be looked at.
 */
final class ReadPace {

  static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final int most;

  /** Messages that were asked for, and have not come. */
  private int awaited;

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
   * @return how many more to ask for now
   */
  int came(boolean useful) {
    awaited--;
    if (!useful) {
      return 0;
    }
    pause = 0;
    int more = most - awaited;
    awaited = most;
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
