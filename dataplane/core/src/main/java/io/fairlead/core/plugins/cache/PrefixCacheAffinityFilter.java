package io.fairlead.core.plugins.cache;

import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.List;

/**
 * Keeps only endpoints that hold {@code affinityThreshold} of the prompt's blocks, where there are
 * any. All stay if the best of those is expected to give its first token more than {@code
 * maxTTFTPenaltyMs} later than the best of the others (0: never), and for a share {@code
 * explorationProbability} of the requests.
 *
 * <p>Expected time to first token is the uncached tokens that wait there plus the request's own,
 * over {@code peakPrefillThroughput} tokens per second. Upstream leaves out the request's own,
 * which is what the cache saves: a long prompt then moves away too early.
 */
final class PrefixCacheAffinityFilter implements Filter {

  private static final long PURPOSE = 0x737469;
  private static final long DRAWS = 1L << 32;

  private final double threshold;
  private final double exploration;
  private final double maxPenaltyMs;
  private final double tokensPerMs;

  PrefixCacheAffinityFilter(
      double threshold, double exploration, double maxPenaltyMs, double tokensPerMs) {
    this.threshold = threshold;
    this.exploration = exploration;
    this.maxPenaltyMs = maxPenaltyMs;
    this.tokensPerMs = tokensPerMs;
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    double enough = threshold * request.blockCount();
    boolean explores = request.draw(PURPOSE, DRAWS) < exploration * DRAWS;
    if (size <= 1 || enough <= 0 || explores) {
      return;
    }
    double sticky = Double.POSITIVE_INFINITY;
    double others = Double.POSITIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      boolean holds = candidates.matchedBlocks(i) >= enough;
      keep[i] = holds;
      double waiting = candidates.get(i).prefills().uncachedTokens();
      double own = request.promptTokens() - candidates.cachedTokens(i);
      double expected = (waiting + own) / tokensPerMs;
      if (holds) {
        sticky = Math.min(sticky, expected);
      } else {
        others = Math.min(others, expected);
      }
    }
    boolean none = sticky == Double.POSITIVE_INFINITY;
    boolean tooSlow = maxPenaltyMs > 0 && sticky - others > maxPenaltyMs;
    for (int i = 0; (none || tooSlow) && i < size; i++) {
      keep[i] = true;
    }
  }

  @Override
  public String keeps() {
    return "endpoints that hold %.0f %% of the prompt".formatted(100 * threshold);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "prefix-cache-affinity-filter";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "prefixMatchInfoProducerName");
      Producer.named(parameters, "inFlightLoadProducerName");
      String source = parameters.text("ttftSource", "prefillThroughput");
      if (source.equals("latencyPredictor")) {
        throw parameters.invalid(
            "ttftSource", "is latencyPredictor, which is not there; set prefillThroughput");
      }
      parameters.choice("ttftSource", source, List.of("prefillThroughput"));
      return new PrefixCacheAffinityFilter(
          parameters.number("affinityThreshold", 0.8, 0, 1),
          parameters.number("explorationProbability", 0, 0, 1),
          parameters.number("maxTTFTPenaltyMs", 18_000, 0, 1e9),
          parameters.number("peakPrefillThroughput", 15_928, 1, 1e9) / 1000);
    }
  }
}
