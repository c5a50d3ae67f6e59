package io.fairlead.core.plugins.load;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Prefers free KV cache: {@code 1 - usage}. An endpoint of unknown usage counts as the mean of the
 * known ones, so that it is neither flooded nor starved; with none known all get 0.5.
 */
final class KvCacheUtilizationScorer implements Scorer {

  private static final double NOTHING_KNOWN = 0.5;

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    PoolCandidates columns = PoolCandidates.of(candidates);
    int size = candidates.size();
    double sum = 0;
    int known = 0;
    for (int i = 0; i < size; i++) {
      scores[i] = 1 - columns.kvUsage(i);
      if (!Double.isNaN(scores[i])) {
        sum += scores[i];
        known++;
      }
    }
    if (known == size) {
      return;
    }
    double mean = known > 0 ? sum / known : NOTHING_KNOWN;
    for (int i = 0; i < size; i++) {
      if (Double.isNaN(scores[i])) {
        scores[i] = mean;
      }
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "kv-cache-utilization-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new KvCacheUtilizationScorer();
    }
  }
}
