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

  /** How many were sent after this moment. */
  int countSince(long moment) {
    int later = 0;
    for (Flight flight = newest; flight != null && flight.attempt.sentAt - moment > 0; ) {
      later++;
      flight = flight.sentBefore;
    }
    return later;
  }

  /** The oldest of those that nobody sees, sent at this moment or before; null if there is none. */
  @Nullable Flight oldestLeft(long moment) {
    for (Flight flight = oldest; flight != null && flight.attempt.sentAt - moment <= 0; ) {
      if (flight.state().isLeft()) {
        return flight;
      }
      flight = flight.sentAfter;
    }
    return null;
  }
}
