package io.fairlead.core.plugins.load;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Prefers short queues by an absolute measure: {@code (1 - min(q, T) / T) / 2}, so 0.5 when nobody
 * waits and 0 from {@code threshold} on.
 */
final class LoadAwareScorer implements Scorer {

  private final double threshold;

  LoadAwareScorer(double threshold) {
    this.threshold = threshold;
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    PoolCandidates columns = PoolCandidates.of(candidates);
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      double depth = columns.queueDepth(i);
      scores[i] = (1 - Math.min(depth, threshold) / threshold) / 2;
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "load-aware-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new LoadAwareScorer(parameters.integer("threshold", 128, 1, 1_000_000));
    }
  }
}
