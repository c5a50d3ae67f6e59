package io.fairlead.lab.simulator;

import io.fairlead.core.shadow.ShadowSnapshot;
import java.util.Map;

/**
 * A run, and what policies that only looked on say that they would have made of it.
 *
 * @param result of the policy that placed the requests
 * @param shadows of the others, by name, over the whole run
 */
public record ShadowedRun(RunResult result, Map<String, ShadowSnapshot> shadows) {

  public ShadowedRun {
    shadows = Map.copyOf(shadows);
  }
}
