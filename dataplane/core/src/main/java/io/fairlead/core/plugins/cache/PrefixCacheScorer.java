package io.fairlead.core.plugins.cache;

import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Prefers endpoints believed to hold the prompt's head. With w being {@code matchLengthWeight}:
 * {@code (1 - w) blocks / all + w min(1, tokens / matchLengthScaleTokens)^2}, so that with a weight
 * a long match counts for more than a short one of the same share.
 */
final class PrefixCacheScorer implements Scorer {

  private final double lengthWeight;
  private final double lengthScale;

  PrefixCacheScorer(double lengthWeight, double lengthScale) {
    this.lengthWeight = lengthWeight;
    this.lengthScale = lengthScale;
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    double blocks = Math.max(1, request.blockCount());
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      scores[i] = candidates.matchedBlocks(i) / blocks;
    }
    for (int i = 0; lengthWeight > 0 && i < size; i++) {
      double length = Math.min(1, candidates.cachedTokens(i) / lengthScale);
      scores[i] = (1 - lengthWeight) * scores[i] + lengthWeight * length * length;
    }
  }

  /**
   * Upstream's older form of exact caches. Its settings say where engines tell of them, which is
   * read beside it.
   */
  static final class PreciseFactory implements PluginFactory {

    @Override
    public String type() {
      return "precise-prefix-cache-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new PrefixCacheScorer(0, 1);
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "prefix-cache-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "prefixMatchInfoProducerName");
      return new PrefixCacheScorer(
          parameters.number("matchLengthWeight", 0, 0, 1),
          parameters.number("matchLengthScaleTokens", 8192, 1, 1e9));
    }
  }
}
