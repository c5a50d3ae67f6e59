package io.fairlead.epp.external;

import java.util.concurrent.TimeUnit;

/**
 * Says whether requests wait for a scheduler's answers. One that is late more often than not is
 * only asked on trial, by requests that don't wait for it, until it answers in time again. An
 * answer that makes no sense is no better than a late one.
 *
 * <p>What counts is the last second or so, or the last 32 answers where they reach further back.
 * Times are nanoseconds of one monotonic clock.
 */
final class CircuitBreaker {

  /** So many late answers at least open it, if they are more than half of all. */
  static final int LATE = 16;

  /**
   * Late answers open it only if they are spread over so long: one pause of either process makes
   * all late that are asked about meanwhile.
   */
  static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** So many answers in time in a row, of requests on trial, close it. */
  static final int IN_TIME = 4;

  /** From one request on trial to the next. */
  static final long TRIAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** So many answers count, however old they are. */
  private static final int LEAST = 2 * LATE;

  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** What counts, in parts, of which the oldest no longer counts when there are more. */
  private static final int PARTS = 9;

  /** A part is full after so long, if it has so many answers: all but one make up the window. */
  private static final long PART_NANOS = WINDOW_NANOS / (PARTS - 1);

  private static final int PART_ANSWERS = LEAST / (PARTS - 1);

  private final int[] answersOf = new int[PARTS];
  private final int[] lateOf = new int[PARTS];

  /** Of those that count as late. */
  private final int[] senselessOf = new int[PARTS];

  /** By part: when it began, when its last answer came, and when its first late one did. */
  private final long[] since = new long[PARTS];

  private final long[] lastAt = new long[PARTS];
  private final long[] lateSince = new long[PARTS];

  /** The newest; the one after it is the oldest. */
  private int part;

  private int answers;
  private int late;
  private int senseless;

  private boolean open;
  private boolean forNoSense;
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

  /** An answer came in time, and makes sense. */
  void inTime(long now) {
    if (!open) {
      count(now, 0, 0);
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
    return bad(now, 0);
  }

  /** One makes no sense; as {@link #late}. */
  boolean senseless(long now) {
    return bad(now, 1);
  }

  /** Whether of those that opened it last, more made no sense than were late. */
  boolean openedForNoSense() {
    return forNoSense;
  }

  private boolean bad(long now, int isSenseless) {
    if (open) {
      trialsInTime = 0;
      return false;
    }
    count(now, 1, isSenseless);
    if (late < LATE || 2 * late <= answers || lateFor(now) < PAUSE_NANOS) {
      return false;
    }
    open = true;
    forNoSense = 2 * senseless > late;
    trialsInTime = 0;
    triedAt = now;
    for (int i = 0; i < PARTS; i++) {
      empty(i);
    }
    return true;
  }

  /** How long ago the first late answer was of those that count. */
  private long lateFor(long now) {
    long longest = 0;
    for (int i = 0; i < PARTS; i++) {
      if (lateOf[i] > 0) {
        longest = Math.max(longest, now - lateSince[i]);
      }
    }
    return longest;
  }

  private void count(long now, int isLate, int isSenseless) {
    if (answersOf[part] >= PART_ANSWERS && now - since[part] >= PART_NANOS) {
      part = (part + 1) % PARTS;
      empty(part);
    }
    if (answersOf[part] == 0) {
      since[part] = now;
    }
    if (isLate > lateOf[part]) {
      lateSince[part] = now;
    }
    lastAt[part] = now;
    answersOf[part]++;
    lateOf[part] += isLate;
    senselessOf[part] += isSenseless;
    answers++;
    late += isLate;
    senseless += isSenseless;
    for (int i = (part + 1) % PARTS; i != part; i = (i + 1) % PARTS) {
      if (now - lastAt[i] >= WINDOW_NANOS && answers - answersOf[i] >= LEAST) {
        empty(i);
      }
    }
  }

  private void empty(int old) {
    answers -= answersOf[old];
    late -= lateOf[old];
    senseless -= senselessOf[old];
    answersOf[old] = 0;
    lateOf[old] = 0;
    senselessOf[old] = 0;
  }
}
