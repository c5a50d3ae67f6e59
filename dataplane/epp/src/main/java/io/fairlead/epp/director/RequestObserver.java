package io.fairlead.epp.director;

import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;

/** Told of every request's milestones, on the pool's loop: must be quick and must not block. */
public interface RequestObserver {

  /** The core took {@code nanos} to decide about a request that arrived. */
  void decided(long nanos);

  /** A request was sent (again). */
  void sent(String model, Route route);

  /** Its first token came {@code nanos} after it arrived. */
  void firstToken(String model, Route route, long nanos);

  /** It ended {@code nanos} after it arrived. */
  void ended(String model, Route route, Outcome outcome, Usage usage, long nanos);

  /** It was turned away. */
  void rejected(String model, Rejection rejection);
}
