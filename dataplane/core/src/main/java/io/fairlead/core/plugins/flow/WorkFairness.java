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
    int first = 0;
    double least = flows.get(0).virtualTime();
    int size = flows.size();
    for (int i = 1; i < size; i++) {
      double time = flows.get(i).virtualTime();
      if (time < least) {
        first = i;
        least = time;
      }
    }
    return first;
  }
}
