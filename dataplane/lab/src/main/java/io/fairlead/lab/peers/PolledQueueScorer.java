package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Upstream's queue scorer as it was: {@code (max - q) / (max - min)} of the queues as last scraped,
 * blind to what was sent since.
 */
final class PolledQueueScorer implements Scorer {

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    double least = Double.POSITIVE_INFINITY;
    double most = 0;
    for (int i = 0; i < size; i++) {
      scores[i] = candidates.get(i).scrapedWaiting();
      least = Math.min(least, scores[i]);
      most = Math.max(most, scores[i]);
    }
    for (int i = 0; i < size; i++) {
      scores[i] = most > least ? (most - scores[i]) / (most - least) : 1;
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "polled-queue-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new PolledQueueScorer();
    }
  }
}
