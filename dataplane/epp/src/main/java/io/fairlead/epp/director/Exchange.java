package io.fairlead.epp.director;

import io.fairlead.core.Rejection;
import io.fairlead.core.Route;

/**
 * A frontend's end of one request. Called on the loop that the frontend gave to the {@link
 * Director}; never after the frontend reported the end.
 */
public interface Exchange {

  /** Send the request there; comes again after {@link Director#attemptFailed()}. */
  void send(Route route);

  /** Answer the client with this error. The director is done. */
  void reject(Rejection rejection);
}
