package io.fairlead.epp.external;

import java.util.concurrent.TimeUnit;

/**
 * Says whether requests wait for a scheduler's answers. One that is late again and again is only
 * asked on trial, by requests that don't wait for it, until it answers in time again.
 *
 * <p>Times are nanoseconds of one monotonic clock.
 */
final class CircuitBreaker {

  /** So many late answers in a row open it, if they are spread over {@link #ROW_NANOS}. */
  static final int LATE = 16;

  /** One pause of either process makes all late that are asked about meanwhile. */
  static final long ROW_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** So many answers in time in a row, of requests on trial, close it. */
  static final int IN_TIME = 4;

  /** From one request on trial to the next. */
  static final long TRIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private boolean open;
  private int inRow;
  private long rowSince;
  private long triedAt;

  /** Whether nobody waits. */
  boolean open() {
    return open;
  }

  /** Whether a request is to be asked about on trial now. */
  boolean tries(long now) {
    if (!open || now - triedAt < TRIAL_NANOS) {
      return false;
    }
    triedAt = now;
    return true;
  }

  /** An answer came in time. */
  void inTime() {
    if (!open) {
      inRow = 0;
    } else if (++inRow >= IN_TIME) {
      open = false;
      inRow = 0;
    }
  }

  /**
   * One did not come in time.
   *
   * @return whether that has opened it
   */
  boolean late(long now) {
    if (open) {
      inRow = 0;
      return false;
    }
    if (inRow++ == 0) {
      rowSince = now;
    }
    if (inRow < LATE || now - rowSince < ROW_NANOS) {
      return false;
    }
    open = true;
    inRow = 0;
    triedAt = now;
    return true;
  }
}
