package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * llm-d's {@code token-load-scorer} as it is: {@code 1 - tokens / 4,194,304}, tokens being the
 * uncached ones that wait there and those that this request would add, which the production scorer
 * leaves out.
 *
 * <p>Source: llm-d/llm-d-router, {@code
 * pkg/epp/framework/plugins/scheduling/scorer/tokenload/token_load.go} at 1b30d10f. What waits is
 * let go of at a response's first chunk ({@code
 * pkg/epp/framework/plugins/requestcontrol/dataproducer/inflightload/README.md} at 2f1de8c0), as
 * {@code Prefills} is: whoever decodes is not seen.
 */
final class LlmdTokenLoadScorer implements Scorer {

  private static final double SCALE = 4_194_304;

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      double own = request.promptTokens() - candidates.cachedTokens(i);
      double tokens = candidates.get(i).prefills().uncachedTokens() + own;
      scores[i] = 1 - Math.min(tokens, SCALE) / SCALE;
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "llm-d-token-load-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new LlmdTokenLoadScorer();
    }
  }
}
