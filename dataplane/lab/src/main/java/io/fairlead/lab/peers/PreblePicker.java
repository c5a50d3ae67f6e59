package io.fairlead.lab.peers;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.Arrays;
import java.util.List;

/**
 * Preble's E2. A prompt of which more was sent before than not is exploited: it goes to those that
 * were sent the longest beginning of it in the last three minutes. Any other explores: it may go
 * anywhere. Of those that it may go to, the one with the least load gets it: seconds of prefill
 * given to it in these minutes, and of the answers in flight there.
 *
 * <p>Source: WukLab/preble, {@code multi_node/global_scheduler_with_time.py} at 0c962c4c (window of
 * three minutes; 0.15 s a token and 45 tokens until answers are known; the median of 200), and the
 * paper (Srivatsa and others, Preble: Efficient Distributed Prompt Scheduling for LLM Serving,
 * arXiv:2407.00023). Stored tests assert no choices. As there by default, nothing is charged for
 * what is evicted and nothing is moved later. The prefill's length is by the speed of the pool at
 * hand, where the source has a regression for one GPU; what was recomputed counts where it was,
 * where the source divides it among those that hold the prefix.
 *
 * <p>{@code variant: aibrix} is vllm-project/aibrix, {@code
 * pkg/plugins/gateway/algorithms/prefix_cache_preble.go} at 0338af7d: exploiting goes by the
 * requests of these minutes, and exploring by their prefill and 45 tokens of 0.15 s for each, as
 * nothing there learns.
 */
final class PreblePicker implements Picker, Observer {

  private static final long WINDOW = 3L * 60 * 1_000_000_000;
  private static final double UNLEARNED_DECODE_SECONDS = 45 * 0.15;
  private static final int BLOCK_TOKENS = 16;

  private final boolean aibrix;
  private final PrebleWindow window;
  private final SentPrefixes tree = new SentPrefixes(WINDOW);
  private int[] matched = {};

  PreblePicker(boolean aibrix, double prefillTokensPerSecond) {
    this.aibrix = aibrix;
    window = new PrebleWindow(WINDOW, prefillTokensPerSecond);
  }

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    window.advance(request.now());
    int size = candidates.size();
    if (matched.length < size) {
      matched = Arrays.copyOf(matched, size + size / 2);
    }
    int longest = 0;
    for (int i = 0; i < size; i++) {
      matched[i] = tree.matched(request, candidates.get(i));
      longest = Math.max(longest, matched[i]);
    }
    int held = longest;
    boolean exploits = 2 * held > request.blockCount();
    picked[0] =
        Loads.anyLeast(
            request,
            size,
            i -> !exploits || matched[i] == held,
            i -> load(candidates.get(i), exploits));
    return 1;
  }

  private double load(Endpoint endpoint, boolean exploits) {
    if (!aibrix) {
      return window.prefillSeconds(endpoint) + window.decodeSeconds(endpoint);
    }
    int requests = window.requests(endpoint);
    return exploits
        ? requests
        : window.prefillSeconds(endpoint) + requests * UNLEARNED_DECODE_SECONDS;
  }

  @Override
  public void joined(Endpoint endpoint) {
    tree.joined(endpoint);
    window.joined(endpoint);
  }

  @Override
  public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
    long known = (long) tree.matched(request, endpoint) * BLOCK_TOKENS;
    window.sent(request.now(), endpoint, Math.max(0, request.promptTokens() - known));
    tree.sent(request, endpoint);
  }

  @Override
  public void completed(Completion completion) {
    window.completed(completion);
  }

  static final class Factory implements PluginFactory {

    private final PoolHardware hardware;

    Factory(PoolHardware hardware) {
      this.hardware = hardware;
    }

    @Override
    public String type() {
      return "preble-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new PreblePicker(
          parameters.choice("variant", "preble", List.of("preble", "aibrix")).equals("aibrix"),
          parameters.number("prefillTokensPerSecond", hardware.prefillTokensPerSecond(), 1, 1e9));
    }
  }
}
