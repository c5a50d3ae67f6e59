package io.fairlead.core.plugins.cache;

import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Prefers endpoints that have the request's adapter: 1 where it runs or was placed, 0.8 where a
 * slot is free, 0.6 where it waits or only an idle adapter must go for it, 0 where all slots are
 * busy. 1 for all when nobody needs an adapter for this model.
 *
 * <p>Upstream asks only what the server says runs or waits there. Servers show neither adapters
 * that are loaded but idle nor ones that were sent a moment ago, and name as waiting what runs; so
 * what was placed from here counts as much as what runs.
 */
final class LoraAffinityScorer implements Scorer {

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    String model = request.targetModel();
    int size = candidates.size();
    boolean needed = false;
    for (int i = 0; i < size && !needed; i++) {
      needed = candidates.get(i).adapters().needed(model);
    }
    for (int i = 0; i < size; i++) {
      scores[i] = needed ? score(candidates.get(i).adapters(), model) : 1;
    }
  }

  private static double score(Adapters adapters, String model) {
    if (adapters.resident(model) || adapters.running(model)) {
      return 1;
    }
    if (adapters.loaded() < adapters.slots()) {
      return 0.8;
    }
    boolean idle = adapters.reported() < adapters.slots();
    return idle || adapters.waiting(model) ? 0.6 : 0;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "lora-affinity-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new LoraAffinityScorer();
    }
  }
}
