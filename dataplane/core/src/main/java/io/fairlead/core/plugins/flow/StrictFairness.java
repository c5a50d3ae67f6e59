package io.fairlead.core.plugins.flow;

import io.fairlead.plugin.FairnessPolicy;
import io.fairlead.plugin.Flows;

/** None: of all flows, the request goes first that came first. */
final class StrictFairness implements FairnessPolicy {

  @Override
  public int next(long now, Flows flows) {
    int first = 0;
    for (int i = 1; i < flows.size(); i++) {
      if (flows.get(i).head().sequence() < flows.get(first).head().sequence()) {
        first = i;
      }
    }
    return first;
  }
}
