package io.fairlead.stub.server;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What vLLM shows of LoRA adapters: a series for every combination of adapters with requests that
 * there ever was, its value the time at which it last was so. Loaded but idle adapters are not
 * shown, and those said to wait are always those that run.
 */
final class LoraSeries {

  private final int max;
  private final TreeMap<String, Integer> requests = new TreeMap<>();
  private final Map<String, Double> seen = new LinkedHashMap<>();
  private double last;

  /** A server with at most {@code max} adapters active at once, which runs none. */
  LoraSeries(int max) {
    this.max = max;
  }

  void began(String adapter, double seconds) {
    requests.merge(adapter, 1, Integer::sum);
    show(seconds);
  }

  void ended(String adapter, double seconds) {
    requests.computeIfPresent(adapter, (name, count) -> count == 1 ? null : count - 1);
    show(seconds);
  }

  /** A later change has a larger value, however coarse the clock is. */
  private void show(double seconds) {
    last = Math.max(seconds, last + 1e-6);
    seen.put(String.join(",", requests.keySet()), last);
  }

  /** Values by what stands between the braces. */
  Map<String, Double> samples() {
    Map<String, Double> samples = new LinkedHashMap<>();
    seen.forEach(
        (names, time) ->
            samples.put(
                "max_lora=\"%d\",running_lora_adapters=\"%s\",waiting_lora_adapters=\"%s\""
                    .formatted(max, MetricsPage.escape(names), MetricsPage.escape(names)),
                time));
    return samples;
  }
}
