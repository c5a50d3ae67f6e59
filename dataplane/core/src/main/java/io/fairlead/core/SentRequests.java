package io.fairlead.core;

import org.jspecify.annotations.Nullable;

/** The requests that are at one endpoint, in the order in which they were sent. */
final class SentRequests {

  private @Nullable Flight oldest;
  private @Nullable Flight newest;
  private int count;

  int count() {
    return count;
  }

  /** Whoever was sent first; {@link Flight#sentAfter} leads to the others. */
  @Nullable Flight oldest() {
    return oldest;
  }

  void add(Flight flight) {
    flight.sentBefore = newest;
    if (newest == null) {
      oldest = flight;
    } else {
      newest.sentAfter = flight;
    }
    newest = flight;
    count++;
  }

  void remove(Flight flight) {
    @Nullable Flight before = flight.sentBefore;
    @Nullable Flight after = flight.sentAfter;
    if (before == null) {
      oldest = after;
    } else {
      before.sentAfter = after;
    }
    if (after == null) {
      newest = before;
    } else {
      after.sentBefore = before;
    }
    flight.sentBefore = null;
    flight.sentAfter = null;
    count--;
  }

  /**
   * How many sequences its server has had since this moment or longer, and must have shown since.
   */
  int countThere(long moment) {
    int had = 0;
    for (Flight flight = oldest; flight != null && flight.attempt.sentAt - moment <= 0; ) {
      had += isThere(flight, moment) ? flight.attempt.answers : 0;
      flight = flight.sentAfter;
    }
    return had;
  }

  /** How many of the sequences whose ends will be seen it has had for less long, or not yet. */
  int countNew(long moment) {
    int fresh = 0;
    for (Flight flight = oldest; flight != null; flight = flight.sentAfter) {
      boolean watched = !flight.state().isLeft() && !flight.attempt.unread;
      fresh += watched && !isThere(flight, moment) ? flight.attempt.answers : 0;
    }
    return fresh;
  }

  /** The oldest of these that nobody sees; null if there is none. */
  @Nullable Flight oldestLeft(long moment) {
    for (Flight flight = oldest; flight != null && flight.attempt.sentAt - moment <= 0; ) {
      if (flight.state().isLeft() && isThere(flight, moment)) {
        return flight;
      }
      flight = flight.sentAfter;
    }
    return null;
  }

  /** Not as long as another server computes its prompt, nor once this one is through with it. */
  private static boolean isThere(Flight flight, long moment) {
    Attempt attempt = flight.attempt;
    return attempt.prefillAt == null && !attempt.unread && attempt.thereSince - moment <= 0;
  }
}
