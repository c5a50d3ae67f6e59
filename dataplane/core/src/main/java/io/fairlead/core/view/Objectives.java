package io.fairlead.core.view;

import io.fairlead.plugin.CycleState;

/** Notes about the latency objectives of the request that is being decided. */
public final class Objectives {

  /**
   * Milliseconds by which the request would be later than it asks for at the candidate where it
   * would be the least late, all its tokens together: 0 where one of them keeps what it asks for.
   * Where several profiles choose, of the one where that is the most. Absent where it asks for
   * nothing, or no scorer looks at it.
   */
  public static final CycleState.Key<Double> LEAST_LATE = new CycleState.Key<>(Double.class);

  private Objectives() {}
}
