package io.fairlead.core;

/**
 * The effects on one request. Called from within the event that causes them, on the pool's loop;
 * must not call back into the core.
 */
public interface RequestListener {

  /**
   * Send the request there. Comes again with a higher attempt after {@link PoolCore#attemptFailed}.
   */
  void send(long request, Route route);

  /** Answer the client with this; the request is over for the core. */
  void reject(long request, Rejection rejection);
}
