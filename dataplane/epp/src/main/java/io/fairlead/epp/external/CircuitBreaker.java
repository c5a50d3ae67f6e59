package io.fairlead.epp.external;

import java.util.concurrent.TimeUnit;

/**
 * Says whether requests wait for a scheduler's answers. One that is late more often than not is
 * only asked on trial, by requests that don't wait for it, until it answers in time again.
 *
 * <p>What counts is the last second, or the last 32 answers where they reach further back. Times
 * are nanoseconds of one monotonic clock.
 */
final class CircuitBreaker {

  /** So many late answers at least open it, if they are more than half of all. */
  static final int LATE = 16;

  /** One pause of either process makes all late that are asked about meanwhile. */
  static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** So many answers in time in a row, of requests on trial, close it. */
  static final int IN_TIME = 4;

  /** From one request on trial to the next. */
  static final long TRIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** What counts, in parts: each time that one is full, the oldest no longer counts. */
  private static final int PARTS = 8;

  /** A part is full after so long, if it has so many answers. */
  private static final long PART_NANOS = TimeUnit.SECONDS.toNanos(1) / PARTS;

  private static final int PART_ANSWERS = 2 * LATE / PARTS;

  private final int[] answersOf = new int[PARTS];
  private final int[] lateOf = new int[PARTS];
  private int part;
  private long partSince;
  private int answers;
  private int late;

  /** When the first of those that count was late, if any was. */
  private long lateSince;

  private boolean open;
  private int trialsInTime;
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
  void inTime(long now) {
    if (!open) {
      count(now, 0);
    } else if (++trialsInTime >= IN_TIME) {
      open = false;
    }
  }

  /**
   * One did not come in time.
   *
   * @return whether that has opened it
   */
  boolean late(long now) {
    if (open) {
      trialsInTime = 0;
      return false;
    }
    count(now, 1);
    if (late == 1) {
      lateSince = now;
    }
    if (late < LATE || 2 * late <= answers || now - lateSince < PAUSE_NANOS) {
      return false;
    }
    open = true;
    trialsInTime = 0;
    triedAt = now;
    for (int i = 0; i < PARTS; i++) {
      nextPart(now);
    }
    return true;
  }

  private void count(long now, int isLate) {
    if (answersOf[part] >= PART_ANSWERS && now - partSince >= PART_NANOS) {
      nextPart(now);
    }
    answersOf[part]++;
    lateOf[part] += isLate;
    answers++;
    late += isLate;
  }

  private void nextPart(long now) {
    part = (part + 1) % PARTS;
    partSince = now;
    answers -= answersOf[part];
    late -= lateOf[part];
    answersOf[part] = 0;
    lateOf[part] = 0;
  }
}
