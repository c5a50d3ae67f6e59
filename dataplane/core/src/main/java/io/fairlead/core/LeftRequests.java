package io.fairlead.core;

import org.jspecify.annotations.Nullable;

/**
 * The requests that a frontend has left after they were sent: nobody sees their answers. Each is
 * over when its endpoint says that it has fewer requests than are counted there, oldest first, and
 * else by an estimate of how long it takes. Where another endpoint computes its prompt first, what
 * is told counts from when that must be through.
 */
final class LeftRequests {

  /** An answer's tokens, unless the request allows fewer. */
  private static final int OUTPUT_TOKENS = 200;

  private static final long TOKEN_NANOS = 25_000_000;

  /**
   * So many times the estimate, while the endpoint tells of its requests. Not for ever: those that
   * it has may be of other pickers.
   */
  private static final long TIMES = 4;

  /** So late a request may show in what its endpoint tells: it is on its way, and read in steps. */
  private static final long ON_ITS_WAY = 1_000_000_000;

  private int count;

  /** Nobody will tell of it any more. */
  void add(long now, Flight flight, EndpointState at, LeftListener told) {
    if (!flight.state().isLeft()) {
      int allowed = flight.facts.maxOutputTokens();
      EndpointState prefiller =
          flight.attempt.prefilledBy == null ? at : flight.attempt.prefilledBy;
      if (flight.state().isPrefilling()) {
        prefiller.prefills().left(flight);
        prefiller.publish();
      }
      at.leftOne(flight); // while all of its prompt is known
      flight.leave(now, expected(prefiller, allowed), told);
      count++;
    }
  }

  /**
   * Nanoseconds that a request is expected to take from when nobody sees it any more.
   *
   * @param prefiller who computes its prompt
   * @param allowed most tokens of its answer; below 0 where it may have any number
   */
  static long expected(EndpointState prefiller, int allowed) {
    long tokens = allowed >= 0 ? Math.min(allowed, OUTPUT_TOKENS) : OUTPUT_TOKENS;
    return prefiller.expectedPrefill() + tokens * TOKEN_NANOS;
  }

  /** It is over. */
  void remove(Flight flight) {
    if (flight.state().isLeft()) {
      count--;
    }
  }

  static boolean isOver(long now, Flight flight, EndpointState at) {
    return now - flight.leftAt >= (at.tells() ? TIMES : 1) * flight.expected;
  }

  /** How many of the sequences at an endpoint are over, by a scrape of it that was begun then. */
  int over(EndpointState at, long begunAt, EndpointMetrics metrics) {
    if (count == 0 || metrics.waiting() < 0 || metrics.running() < 0) {
      return 0;
    }
    int shown = at.requests().countThere(begunAt - ON_ITS_WAY);
    return Math.max(0, shown - metrics.running() - metrics.waiting());
  }

  /** The oldest at an endpoint that a scrape begun then must have shown; null if there is none. */
  static @Nullable Flight oldest(EndpointState at, long begunAt) {
    return at.requests().oldestLeft(begunAt - ON_ITS_WAY);
  }
}
