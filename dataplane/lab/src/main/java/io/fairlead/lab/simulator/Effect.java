package io.fairlead.lab.simulator;

import io.fairlead.core.HealthChange;
import io.fairlead.core.Probe;
import io.fairlead.core.Rejection;

/** Something that the core wants done. */
sealed interface Effect {

  /**
   * Send a request to a server; where it was before, it is given up.
   *
   * @param prefiller address and port of who is to compute its prompt; empty for the server itself
   */
  record Send(Flight flight, String endpoint, String prefiller) implements Effect {}

  /** Give the client what the server answered. */
  record Pass(Flight flight) implements Effect {}

  /** Turn a request away, or break it off. */
  record Reject(Flight flight, Rejection rejection) implements Effect {}

  /** Turn a request away unless its answer has begun. */
  record Evict(Flight flight) implements Effect {}

  /** Ask a server. */
  record Ask(Probe probe) implements Effect {}

  /** A server is used otherwise. */
  record Changed(HealthChange change) implements Effect {}
}
