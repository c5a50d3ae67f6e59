package io.fairlead.core.plugins;

import io.fairlead.plugin.CycleState;
import io.fairlead.plugin.Endpoint;

/** Notes about the endpoints that serve one request together. */
final class Peers {

  /** The endpoint that an earlier profile picked, which the next one's pick will work with. */
  static final CycleState.Key<Endpoint> PEER = new CycleState.Key<>(Endpoint.class);

  /** The endpoint that computes the prompt for the one that gets the request. */
  static final CycleState.Key<Endpoint> PREFILLER = new CycleState.Key<>(Endpoint.class);

  private Peers() {}
}
