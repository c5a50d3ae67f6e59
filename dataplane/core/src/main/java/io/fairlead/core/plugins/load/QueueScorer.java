package io.fairlead.core.plugins.load;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Prefers short queues: {@code (max - q) / (max - min)} over the candidates' queue depths, 1 for
 * all when they are equal.
 */
final class QueueScorer implements Scorer {

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    PoolCandidates columns = PoolCandidates.of(candidates);
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      scores[i] = columns.queueDepth(i);
    }
    Scores.preferLow(scores, size);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "queue-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new QueueScorer();
    }
  }
}
