package io.fairlead.core.plugins;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/** Prefers endpoints believed to hold the prompt's head: matched blocks of all its blocks. */
final class PrefixCacheScorer implements Scorer {

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    double blocks = Math.max(1, request.blockCount());
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      scores[i] = candidates.matchedBlocks(i) / blocks;
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "prefix-cache-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new PrefixCacheScorer();
    }
  }
}
