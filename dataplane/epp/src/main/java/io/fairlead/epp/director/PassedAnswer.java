package io.fairlead.epp.director;

/**
 * What a client got of an endpoint's answer, as its frontend saw the pieces pass: how much, and how
 * the events of a stream came one after the other. Written on the frontend's loop until the answer
 * is over, then read on the pool's. A piece costs no object.
 */
public final class PassedAnswer {

  /** Bounds of {@link #gaps}, upper ones, in nanoseconds. */
  private static final long[] BOUNDS = {
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    30_000_000,
    50_000_000,
    75_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    5_000_000_000L
  };

  private final int[] gaps = new int[BOUNDS.length + 1];
  private long bytes;
  private long nanosBetween;
  private long lastEventAt;
  private int events;

  /** Nothing has passed. */
  public PassedAnswer() {}

  /** Upper bounds of the times between events, in nanoseconds; beyond the last there is none. */
  public static long[] bounds() {
    return BOUNDS.clone();
  }

  /** Bytes of the body. */
  public long bytes() {
    return bytes;
  }

  /**
   * How many times between two events were in the range of this bound, and above the one before.
   */
  public int gaps(int bound) {
    return gaps[bound];
  }

  /** All times between two events together, in nanoseconds. */
  public long nanosBetween() {
    return nanosBetween;
  }

  /** Events that have ended; one fewer are the times between them. */
  public int events() {
    return events;
  }

  /** More of the body passes, so many bytes. */
  public void passed(int more) {
    bytes += more;
  }

  /**
   * Events have ended. Those that one piece brought came at once: no time lies between them.
   *
   * @param now of a clock that never goes back, in nanoseconds
   * @param ended all events so far, more than before
   */
  public void eventsAt(long now, int ended) {
    if (events > 0) {
      long gap = now - lastEventAt;
      nanosBetween += gap;
      gaps[bound(gap)]++;
    }
    gaps[0] += ended - events - 1;
    events = ended;
    lastEventAt = now;
  }

  private static int bound(long gap) {
    int at = 0;
    while (at < BOUNDS.length && gap > BOUNDS[at]) {
      at++;
    }
    return at;
  }
}
