package io.fairlead.core.plugins.load;

import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Prefers endpoints with little prompt left to compute: {@code 1 - min(tokens, T) / T}, where
 * tokens are the uncached prompt tokens sent there that wait for a first token.
 */
final class TokenLoadScorer implements Scorer {

  private final double threshold;

  TokenLoadScorer(double threshold) {
    this.threshold = threshold;
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      double tokens = candidates.get(i).prefills().uncachedTokens();
      scores[i] = 1 - Math.min(tokens, threshold) / threshold;
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "token-load-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "inFlightLoadProducerName");
      return new TokenLoadScorer(
          parameters.integer("queueThresholdTokens", 4_194_304, 1, Integer.MAX_VALUE));
    }
  }
}
