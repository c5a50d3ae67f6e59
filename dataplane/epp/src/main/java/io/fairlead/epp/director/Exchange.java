package io.fairlead.epp.director;

import io.fairlead.core.Rejection;
import io.fairlead.core.Route;

/**
 * A frontend's end of one request. Called on the loop that the frontend gave to the {@link
 * Director}; never after the frontend reported the end.
 */
public interface Exchange {

  /**
   * Send the request there. Comes again after {@link Director#attemptFailed}, and of itself while
   * nothing of an answer has been told: then what is under way at the former endpoint is to be
   * abandoned.
   */
  void send(Route route);

  /**
   * Give the client the endpoint's own answer, for which {@link Director#attemptFailed} was told:
   * nothing is sent again.
   */
  void pass();

  /**
   * Answer the client with this error; where it has part of an answer already, break that off so
   * that the client can't take it for whole. What is under way at the endpoint is to be abandoned.
   * The director is done.
   */
  void reject(Rejection rejection);
}
