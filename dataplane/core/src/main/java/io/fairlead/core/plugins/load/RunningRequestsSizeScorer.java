package io.fairlead.core.plugins.load;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Prefers small batches: {@code (max - n) / (max - min)} over the candidates' running requests, 1
 * for all when they are equal. Running are as many as the server said or, if more, as are in flight
 * and past their first token, sent from here or by pickers that tell of theirs: between two scrapes
 * a busy endpoint would look idle.
 */
final class RunningRequestsSizeScorer implements Scorer {

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      Endpoint endpoint = candidates.get(i);
      scores[i] = Math.max(endpoint.scrapedRunning(), endpoint.decoding());
    }
    Scores.preferLow(scores, size);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "running-requests-size-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new RunningRequestsSizeScorer();
    }
  }
}
