package io.fairlead.core.view;

import io.fairlead.plugin.Endpoint;

/** An endpoint as the core has it: every one that a plugin is shown is one. */
public interface PoolEndpoint extends Endpoint {

  /**
   * A small number from 0 up, no other endpoint's at the same time, for state in arrays. Given to
   * another endpoint when this one is gone, which {@link io.fairlead.plugin.Observer#joined} tells.
   */
  int slot();

  /** The slot of an endpoint that a plugin is shown. */
  static int slot(Endpoint endpoint) {
    return ((PoolEndpoint) endpoint).slot();
  }
}
