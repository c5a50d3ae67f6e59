package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/**
 * The policy {@code cache_aware} of SGLang's gateway. The pool is out of balance when the most
 * requests in flight are more than {@code balanceAbsThreshold} above and {@code
 * balanceRelThreshold} times the fewest: then the fewest get it. Else the one that was sent the
 * longest beginning of this prompt, if that is more than {@code cacheThreshold} of it, and if not,
 * the fewest. Every {@code evictionIntervalSeconds} each server's part of the tree is cut to {@code
 * maxTreeSize} characters.
 *
 * <p>Source: sgl-project/sglang, {@code sgl-model-gateway/src/policies/cache_aware.rs} at 053b63ff;
 * thresholds of 0.5, 32 and 1.1 from {@code CacheAwareConfig::default} in {@code policies/mod.rs}
 * at 01f6c92a. That default cuts trees to 10,000 characters every 30 s, which no deployment runs:
 * size and interval are those that the gateway's manual sets, 67,108,864 and 120 s. (Its Python
 * launcher has been documented with 0.3, 64 and 1.5 as well.)
 *
 * <p>The tree is of blocks of 64 characters, and the match is a share of them. Of equals the first
 * gets it, as there.
 */
final class SglangCacheAwarePicker implements Picker, Observer {

  private final double cacheThreshold;
  private final int absThreshold;
  private final double relThreshold;
  private final long evictionInterval;
  private final long mostBlocks;
  private final SentPrefixes tree = new SentPrefixes();
  private long evictedAt;

  SglangCacheAwarePicker(
      double cacheThreshold,
      int absThreshold,
      double relThreshold,
      long evictionInterval,
      long maxTreeSize) {
    this.cacheThreshold = cacheThreshold;
    this.absThreshold = absThreshold;
    this.relThreshold = relThreshold;
    this.evictionInterval = evictionInterval;
    mostBlocks = maxTreeSize / SentPrefixes.BLOCK_CHARACTERS;
  }

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    if (request.now() - evictedAt >= evictionInterval) {
      evictedAt = request.now();
      tree.evictEach(mostBlocks);
    }
    int least = Integer.MAX_VALUE;
    int most = 0;
    for (int i = 0; i < candidates.size(); i++) {
      int load = candidates.get(i).inFlight();
      least = Math.min(least, load);
      most = Math.max(most, load);
    }
    boolean unbalanced = most - least > absThreshold && most > least * relThreshold;
    int holder = unbalanced ? -1 : holder(request, candidates);
    picked[0] = holder >= 0 ? holder : Loads.firstLeast(candidates);
    return 1;
  }

  /** Who was sent enough of the prompt, the longest and then the latest; -1 if nobody was. */
  private int holder(InferenceRequest request, Candidates candidates) {
    int best = -1;
    int longest = 0;
    long latest = Long.MIN_VALUE;
    for (int i = 0; i < candidates.size(); i++) {
      Endpoint endpoint = candidates.get(i);
      int matched = tree.matched(request, endpoint);
      long at = matched == 0 ? 0 : tree.lastSent(request, endpoint, matched);
      if (matched > longest || (matched == longest && matched > 0 && at > latest)) {
        best = i;
        longest = matched;
        latest = at;
      }
    }
    return longest > cacheThreshold * request.blockCount() ? best : -1;
  }

  @Override
  public void joined(Endpoint endpoint) {
    tree.joined(endpoint);
  }

  @Override
  public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
    tree.sent(request, endpoint);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "sglang-cache-aware-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new SglangCacheAwarePicker(
          parameters.number("cacheThreshold", 0.5, 0, 1),
          parameters.integer("balanceAbsThreshold", 32, 0, 1_000_000),
          parameters.number("balanceRelThreshold", 1.1, 1, 1_000),
          (long) (1e9 * parameters.number("evictionIntervalSeconds", 120, 0.001, 1e6)),
          parameters.integer("maxTreeSize", 67_108_864, 64, Integer.MAX_VALUE));
    }
  }
}
