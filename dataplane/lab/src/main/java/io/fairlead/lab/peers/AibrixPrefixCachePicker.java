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
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * AIBrix's router {@code prefix-cache}. Of the pods that were sent a beginning of this prompt, the
 * one with the longest, then the fewest requests, whose requests are within the mean and one
 * standard deviation; if there is none, any of those with the fewest. Where the busiest has more
 * than twice the mean and one, and eight more than the least busy, only the least busy are looked
 * at for a beginning.
 *
 * <p>Source: vllm-project/aibrix, {@code pkg/plugins/gateway/algorithms/prefix_cache.go} at
 * 01de8a51: the factors 1 and 2.0 and the gap of 8 are its defaults. Its table ({@code
 * pkg/utils/prefixcacheindexer/hash.go} at 0871c212) keeps 200,000 blocks for all pods, the least
 * recently used going first, and each for 20 minutes. Blocks are of 128 characters by its manual
 * ({@code pkg/plugins/gateway/algorithms/README.md}); the source falls back to 4, which would be
 * 800 kB of text. As much text is kept here, in blocks of 64 characters, one that two pods have
 * counting twice.
 */
final class AibrixPrefixCachePicker implements Picker, Observer {

  private static final long TABLE_CHARACTERS = 200_000L * 128;
  private static final long TIME_TO_LIVE = 20L * 60 * 1_000_000_000;

  private final double deviations;
  private final double imbalanceFactor;
  private final int imbalanceGap;
  private final long tableCharacters;
  private final SentPrefixes table = new SentPrefixes(TIME_TO_LIVE);
  private int[] matched = {};

  AibrixPrefixCachePicker(
      double deviations, double imbalanceFactor, int imbalanceGap, long tableCharacters) {
    this.deviations = deviations;
    this.imbalanceFactor = imbalanceFactor;
    this.imbalanceGap = imbalanceGap;
    this.tableCharacters = tableCharacters;
  }

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    int size = candidates.size();
    int least = Integer.MAX_VALUE;
    int most = 0;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < size; i++) {
      int load = candidates.get(i).inFlight();
      least = Math.min(least, load);
      most = Math.max(most, load);
      sum += load;
      squares += (double) load * load;
    }
    double mean = sum / size;
    double deviation = Math.sqrt(Math.max(0, squares / size - mean * mean));
    boolean unbalanced = most > imbalanceFactor * (mean + 1) && most - least >= imbalanceGap;
    int idlest = least;
    match(request, candidates, load -> !unbalanced || load == idlest);
    double limit = mean + deviations * deviation;
    int holder =
        Loads.anyLeast(
            request,
            size,
            i -> matched[i] > 0 && candidates.get(i).inFlight() <= limit,
            // A percent more of the prompt comes before any number of requests.
            i -> candidates.get(i).inFlight() - 1e6 * percent(request, matched[i]));
    picked[0] =
        holder >= 0
            ? holder
            : Loads.anyLeast(request, size, _ -> true, i -> candidates.get(i).inFlight());
    return 1;
  }

  private void match(InferenceRequest request, Candidates candidates, IntPredicate looked) {
    int size = candidates.size();
    if (matched.length < size) {
      matched = new int[size + size / 2];
    }
    Arrays.fill(matched, 0);
    for (int i = 0; i < size; i++) {
      Endpoint endpoint = candidates.get(i);
      if (looked.test(endpoint.inFlight())) {
        matched[i] = table.matched(request, endpoint);
      }
    }
  }

  private static int percent(InferenceRequest request, int blocks) {
    return request.blockCount() == 0 ? 0 : blocks * 100 / request.blockCount();
  }

  @Override
  public void joined(Endpoint endpoint) {
    table.joined(endpoint);
  }

  @Override
  public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
    table.sent(request, endpoint);
    table.evictAll(tableCharacters / SentPrefixes.BLOCK_CHARACTERS);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "aibrix-prefix-cache-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new AibrixPrefixCachePicker(
          parameters.number("standardDeviationFactor", 1, 0, 100),
          parameters.number("loadImbalanceFactor", 2, 0, 1_000),
          parameters.integer("loadImbalanceMinGap", 8, 0, 1_000_000),
          parameters.integer("tableCharacters", (int) TABLE_CHARACTERS, 64, Integer.MAX_VALUE));
    }
  }
}
