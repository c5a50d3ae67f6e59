package io.fairlead.core.plugins.flow;

import io.fairlead.plugin.FairnessPolicy;
import io.fairlead.plugin.Flows;

/**
 * Shares of work by weight: the flow goes next that has had least of it, in tokens of prompts and
 * answers by weight. See {@link io.fairlead.plugin.Flow#virtualTime}.
 */
final class WorkFairness implements FairnessPolicy {

  @Override
  public int next(long now, Flows flows) {
    int least = 0;
    for (int i = 1; i < flows.size(); i++) {
      if (flows.get(i).virtualTime() < flows.get(least).virtualTime()) {
        least = i;
      }
    }
    return least;
  }
}
