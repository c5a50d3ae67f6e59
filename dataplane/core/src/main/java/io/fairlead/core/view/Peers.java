package io.fairlead.core.view;

import io.fairlead.plugin.CycleState;
import io.fairlead.plugin.Endpoint;

/** Notes about the endpoints that serve one request together. */
public final class Peers {

  /** The endpoint that an earlier profile picked, which the next one's pick will work with. */
  public static final CycleState.Key<Endpoint> PEER = new CycleState.Key<>(Endpoint.class);

  /** The endpoint that computes the prompt for the one that gets the request. */
  public static final CycleState.Key<Endpoint> PREFILLER = new CycleState.Key<>(Endpoint.class);

  /** What the endpoint that is picked now is to do; {@link Stage#WHOLE} where nobody says. */
  public static final CycleState.Key<Stage> STAGE = new CycleState.Key<>(Stage.class);

  private Peers() {}
}
