package io.fairlead.epp;

import java.time.Duration;

/** A server that brings requests in. */
interface Frontend {

  /** Where it listens. */
  int port();

  /**
   * Accepts nothing new, lets requests finish for so long, then cuts them. Blocks.
   *
   * @return whether all finished
   */
  boolean drain(Duration bound);
}
