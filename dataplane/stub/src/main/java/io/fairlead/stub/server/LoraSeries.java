package io.fairlead.stub.server;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What vLLM shows of LoRA adapters: a series for every combination of adapters with running
 * requests that there ever was, its value the time at which it last came to be so. Loaded but idle
 * adapters are not shown, nor those that only wait; those said to wait are always those that run.
 */
final class LoraSeries {

  private final int max;
  private final Map<String, Double> seen = new LinkedHashMap<>();
  private List<String> shown = List.of();
  private double last;

  /** A server with at most {@code max} adapters active at once, which runs none. */
  LoraSeries(int max) {
    this.max = max;
  }

  /** The adapters that run now, in order. A later change has a larger value. */
  void running(List<String> adapters, double seconds) {
    if (!adapters.equals(shown)) {
      shown = adapters;
      last = Math.max(seconds, last + 1e-6);
      seen.put(String.join(",", adapters), last);
    }
  }

  /** Values by what stands between the braces. */
  Map<String, Double> samples() {
    Map<String, Double> samples = new LinkedHashMap<>();
    seen.forEach(
        (names, time) ->
            samples.put(
                "max_lora=\"%d\",running_lora_adapters=\"%s\",waiting_lora_adapters=\"%s\""
                    .formatted(max, PageText.escape(names), PageText.escape(names)),
                time));
    return samples;
  }
}
