package io.fairlead.core.plugins.flow;

import io.fairlead.plugin.FairnessPolicy;
import io.fairlead.plugin.Flows;

/** One request of each flow in turn, however large it is. */
final class RoundRobinFairness implements FairnessPolicy {

  @Override
  public int next(long now, Flows flows) {
    int first = 0;
    for (int i = 1; i < flows.size(); i++) {
      if (flows.get(i).lastTurn() < flows.get(first).lastTurn()) {
        first = i;
      }
    }
    return first;
  }
}
