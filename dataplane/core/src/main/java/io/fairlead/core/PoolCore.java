package io.fairlead.core;

import io.fairlead.core.scheduling.CompiledConfig;
import java.util.List;

/**
 * One pool's decisions and accounts: a state machine that takes events and returns effects.
 *
 * <p>Not thread-safe: owned by one loop. Every event carries the time, in nanoseconds of any
 * monotonic clock. Events on a request that has ended, or never was, change nothing: tickets are
 * never reused.
 */
public final class PoolCore {

  /** Applies a config at once: every later event sees it, no earlier one does. */
  public void configure(long now, CompiledConfig config) {
    throw new UnsupportedOperationException();
  }

  /**
   * Sets which endpoints may get requests. One that is missing gets no new requests; those in
   * flight on it go on and stay counted. One with a new incarnation starts afresh.
   */
  public void endpoints(long now, List<EndpointSpec> endpoints) {
    throw new UnsupportedOperationException();
  }

  /** Takes in a scrape. An unknown endpoint is ignored: it left while the scrape was under way. */
  public void scraped(long now, String endpoint, EndpointMetrics metrics) {
    throw new UnsupportedOperationException();
  }

  /**
   * A request came. Its effect, {@link RequestListener#send} or {@link RequestListener#reject},
   * comes before this returns.
   *
   * @return the request's ticket, also passed to the listener
   */
  public long arrive(long now, RequestFacts facts, RequestListener listener) {
    throw new UnsupportedOperationException();
  }

  /**
   * The endpoint did not take the request: it broke before the first response byte. Causes another
   * send, to an endpoint not tried yet, or a rejection.
   */
  public void attemptFailed(long now, long request) {
    throw new UnsupportedOperationException();
  }

  /** The first token (first body byte) of the response came. Later calls change nothing. */
  public void firstToken(long now, long request) {
    throw new UnsupportedOperationException();
  }

  /** The request is over; its capacity is free again. */
  public void ended(long now, long request, Outcome outcome, Usage usage) {
    throw new UnsupportedOperationException();
  }

  /** Requests sent or waiting that have not ended. */
  public int active() {
    throw new UnsupportedOperationException();
  }

  /** Whether a config has been applied and there is an endpoint to send to. */
  public boolean ready() {
    throw new UnsupportedOperationException();
  }

  /** State of every endpoint, leaving ones included, by name. */
  public List<EndpointSnapshot> snapshot() {
    throw new UnsupportedOperationException();
  }
}
