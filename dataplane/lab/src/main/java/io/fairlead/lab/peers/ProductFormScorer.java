package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * The product form: the least of (prompt tokens that wait there + those of this request that are
 * not cached) × (requests in flight + 1) gets 1, the others the least over their own.
 */
final class ProductFormScorer implements Scorer {

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      Endpoint endpoint = candidates.get(i);
      double uncached = request.promptTokens() - candidates.cachedTokens(i);
      double pending = endpoint.prefills().uncachedTokens();
      scores[i] = Math.max(1, pending + uncached) * (endpoint.inFlight() + 1);
      least = Math.min(least, scores[i]);
    }
    for (int i = 0; i < size; i++) {
      scores[i] = least / scores[i];
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "product-form-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new ProductFormScorer();
    }
  }
}
