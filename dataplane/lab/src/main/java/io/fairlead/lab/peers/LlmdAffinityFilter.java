package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/**
 * llm-d's {@code prefix-cache-affinity-filter} as it is: only those stay that hold {@code
 * affinityThreshold} of the prompt, unless the best of them is expected to take {@code
 * maxTTFTPenaltyMs} longer than the best of the others (0: whatever it takes). What is expected is
 * the uncached tokens that wait there over {@code peakPrefillThroughput}; what the request itself
 * has to compute is left out, which the production filter counts.
 *
 * <p>Source: llm-d/llm-d-router, {@code
 * pkg/epp/framework/plugins/scheduling/filter/prefixcacheaffinity/plugin.go} at 066c20ea: 0.80 and
 * 18,000 ms. Its throughput of 15,928 is a measurement of one model on one kind of GPU, and its
 * guides say to measure it: by default it is that of the pool at hand. The guide itself
 * (llm-d/llm-d, {@code guides/optimized-baseline/router/optimized-baseline.values.yaml} at
 * 0a3b0c93) says it as 286,720 tokens, which is 18,000 ms at 15,928.
 */
final class LlmdAffinityFilter implements Filter {

  private final double threshold;
  private final double maxPenaltyMs;
  private final double tokensPerMs;

  LlmdAffinityFilter(double threshold, double maxPenaltyMs, double tokensPerMs) {
    this.threshold = threshold;
    this.maxPenaltyMs = maxPenaltyMs;
    this.tokensPerMs = tokensPerMs;
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    double enough = threshold * request.blockCount();
    if (size <= 1 || enough <= 0) {
      return;
    }
    double sticky = Double.POSITIVE_INFINITY;
    double others = Double.POSITIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      keep[i] = candidates.matchedBlocks(i) >= enough;
      double waiting = candidates.get(i).prefills().uncachedTokens() / tokensPerMs;
      if (keep[i]) {
        sticky = Math.min(sticky, waiting);
      } else {
        others = Math.min(others, waiting);
      }
    }
    boolean none = sticky == Double.POSITIVE_INFINITY;
    boolean tooSlow = maxPenaltyMs > 0 && sticky - others > maxPenaltyMs;
    for (int i = 0; (none || tooSlow) && i < size; i++) {
      keep[i] = true;
    }
  }

  static final class Factory implements PluginFactory {

    private final PoolHardware hardware;

    Factory(PoolHardware hardware) {
      this.hardware = hardware;
    }

    @Override
    public String type() {
      return "llm-d-affinity-filter";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new LlmdAffinityFilter(
          parameters.number("affinityThreshold", 0.8, 0, 1),
          parameters.number("maxTTFTPenaltyMs", 18_000, 0, 1e9),
          parameters.number("peakPrefillThroughput", hardware.prefillTokensPerSecond(), 1, 1e9)
              / 1_000);
    }
  }
}
