package io.fairlead.stub.server;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What vLLM shows of LoRA adapters: a series for every combination of adapters with running
 * requests that there ever was at a step's end, none included, its value the last time of it.
 * Loaded but idle adapters are not shown, nor those that only wait; those said to wait are always
 * those that run.
 */
final class LoraSeries {

  private final int max;
  private final Map<String, Double> seen = new LinkedHashMap<>();
  private double last;

  /** A server with at most {@code max} adapters active at once, which runs none. */
  LoraSeries(int max) {
    this.max = max;
  }

  /** The adapters that run at a step's end, in order. A later step has a larger value. */
  void running(List<String> adapters, double seconds) {
    last = Math.max(seconds, last + 1e-6);
    seen.put(String.join(",", adapters), last);
  }

  /** The process is another. */
  void clear() {
    seen.clear();
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
