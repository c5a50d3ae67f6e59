package io.fairlead.core;

import io.fairlead.crds.config.Criticality;

/**
 * The effects on one request. Called from within the event that causes them, on the pool's loop;
 * must not call back into the core.
 */
public interface RequestListener {

  /**
   * The request waits for room: {@link #send} or {@link #reject} comes later. A client that does
   * not want to wait any longer is told of by {@link PoolCore#ended}.
   *
   * @param criticality that it counts with
   */
  default void waits(long request, Criticality criticality) {}

  /**
   * Send the request there. Comes again with a higher attempt after {@link PoolCore#attemptFailed},
   * or when the endpoint has turned out to be dead before the first byte of its answer: the former
   * attempt, if it is still under way, is to be abandoned.
   */
  void send(long request, Route route);

  /**
   * Give the client the answer that the endpoint gave with a failure for which {@link
   * Failure#answered} holds: the request is not sent again. The request goes on, up to {@link
   * PoolCore#ended}.
   */
  void pass(long request);

  /**
   * Answer the client with this, or break off the answer that it gets; the request is over for the
   * core. May come at any time, also after a {@link #send}: a deadline has passed. What is under
   * way at the endpoint is to be abandoned.
   */
  void reject(long request, Rejection rejection);

  /**
   * A more important request waits: if no byte of an answer has come, answer the client with this,
   * abandon what is under way at the endpoint, and tell {@link PoolCore#evicted}; the request goes
   * on until then. Who does nothing keeps it.
   */
  default void evict(long request, Rejection rejection) {}
}
