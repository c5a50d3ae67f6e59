package io.fairlead.epp.status;

import io.fairlead.core.QueueSnapshot;
import java.util.concurrent.TimeUnit;

/**
 * Since when a pool has no room, for people: a burst is not told of, nor a moment of room in an
 * overload. Used by one thread.
 */
public final class SaturationWatch {

  /** For {@link #look}: there is room. */
  public static final long ROOM = Long.MIN_VALUE;

  /** So long there must be no room before it is told. */
  private static final long SATURATED_NANOS = TimeUnit.SECONDS.toNanos(3);

  /** So long there must be room again before that is told. */
  private static final long ROOM_NANOS = TimeUnit.SECONDS.toNanos(15);

  private boolean told;
  private long since = ROOM;
  private long roomSince = ROOM;

  /** There is room. */
  public SaturationWatch() {}

  /**
   * Takes in how it is; to be called about once a second.
   *
   * @param now of the pool's clock, in nanoseconds
   * @return since when there is no room, by the same clock; {@link #ROOM} while there is
   */
  public long look(QueueSnapshot queues, long now) {
    boolean full = queues.waiting() > 0 || queues.full();
    if (full) {
      roomSince = ROOM;
      if (since == ROOM) {
        since = now;
      }
      told |= now - since >= SATURATED_NANOS;
    } else {
      if (roomSince == ROOM) {
        roomSince = now;
      }
      if (!told || now - roomSince >= ROOM_NANOS) {
        told = false;
        since = ROOM;
      }
    }
    return told ? since : ROOM;
  }
}
