package io.fairlead.core;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight. A ticket is an entry with its generation, which grows each time the entry
 * is freed: a ticket that is over is never valid again. An entry whose generations are used up is
 * retired.
 *
 * <p>Grows to the most requests ever in flight at once, and stays.
 */
final class RequestTable {

  private static final int ENTRY_BITS = 24;
  private static final int ENTRY_MASK = (1 << ENTRY_BITS) - 1;
  private static final long GENERATION = 1L << ENTRY_BITS;
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
      free[freeCount++] = (int) flight.ticket & ENTRY_MASK;
      flight.ticket += GENERATION;
    }
  }

  /** The live request of a ticket, or null. */
  @Nullable Flight get(long ticket) {
    int entry = (int) ticket & ENTRY_MASK;
    if (entry >= flights.length) {
      return null;
    }
    Flight flight = flights[entry];
    return flight.state() != FlightState.ENDED && flight.ticket == ticket ? flight : null;
  }

  /** How many entries there are, live or free. */
  int entries() {
    return flights.length;
  }

  /** The live request in this entry, or null. */
  @Nullable Flight at(int entry) {
    Flight flight = flights[entry];
    return flight.state() != FlightState.ENDED ? flight : null;
  }

  private void grow() {
    int from = flights.length;
    if (from > ENTRY_MASK) {
      throw new IllegalStateException("more than " + from + " requests in flight");
    }
    int to = Math.max(FIRST_LENGTH, from * 2);
    flights = Arrays.copyOf(flights, to);
    free = Arrays.copyOf(free, to);
    for (int entry = to - 1; entry >= from; entry--) {
      flights[entry] = new Flight(retries, GENERATION | entry);
      free[freeCount++] = entry;
    }
  }
}
