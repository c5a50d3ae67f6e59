package io.fairlead.core;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight. A ticket is a place with its generation, which grows each time the place
 * is freed: a ticket that is over is never valid again. A place whose generations are used up is
 * retired.
 *
 * <p>Grows to the most requests ever in flight at once, and stays.
 */
final class RequestTable {

  private static final int PLACE_BITS = 24;
  private static final int PLACE_MASK = (1 << PLACE_BITS) - 1;
  private static final long GENERATION = 1L << PLACE_BITS;
  private static final int FIRST_LENGTH = 64;

  private final int retries;
  private Flight[] flights = {};
  private int[] free = {};
  private int freeCount;
  private int active;

  RequestTable(int retries) {
    this.retries = retries;
  }

  int active() {
    return active;
  }

  Flight add(long now, RequestFacts request, RequestListener listener) {
    if (freeCount == 0) {
      grow();
    }
    Flight flight = flights[free[--freeCount]];
    flight.start(now, request, listener);
    active++;
    return flight;
  }

  void remove(Flight flight) {
    flight.clear();
    active--;
    if (flight.ticket <= Long.MAX_VALUE - GENERATION) {
      free[freeCount++] = (int) flight.ticket & PLACE_MASK;
      flight.ticket += GENERATION;
    }
  }

  /** The live request of a ticket, or null. */
  @Nullable Flight get(long ticket) {
    int place = (int) ticket & PLACE_MASK;
    if (place >= flights.length) {
      return null;
    }
    Flight flight = flights[place];
    return flight.live && flight.ticket == ticket ? flight : null;
  }

  /** How many places there are, live or free. */
  int places() {
    return flights.length;
  }

  /** The live request in this place, or null. */
  @Nullable Flight at(int place) {
    Flight flight = flights[place];
    return flight.live ? flight : null;
  }

  private void grow() {
    int from = flights.length;
    if (from > PLACE_MASK) {
      throw new IllegalStateException("more than " + from + " requests in flight");
    }
    int to = Math.max(FIRST_LENGTH, from * 2);
    flights = Arrays.copyOf(flights, to);
    free = Arrays.copyOf(free, to);
    for (int place = to - 1; place >= from; place--) {
      flights[place] = new Flight(retries, GENERATION | place);
      free[freeCount++] = place;
    }
  }
}
