package io.fairlead.core.plugins.load;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.SaturationDetector;

/**
 * How full an endpoint is: the larger of requests waiting and KV cache usage, each relative to its
 * threshold. As a filter it keeps endpoints below both thresholds stretched by {@code headroom},
 * and all of them when none is. Unknown usage counts as none: what waits, which holds what was sent
 * from here, still tells.
 */
final class UtilizationDetector implements SaturationDetector, Filter {

  private final double queueThreshold;
  private final double kvThreshold;
  private final double limit;

  UtilizationDetector(int queueThreshold, double kvThreshold, double headroom) {
    this.queueThreshold = queueThreshold;
    this.kvThreshold = kvThreshold;
    this.limit = 1 + headroom;
  }

  @Override
  public double saturation(Endpoint endpoint) {
    double queue = endpoint.waiting() / queueThreshold;
    double kv = endpoint.kvUsage() / kvThreshold;
    return kv > queue ? kv : queue;
  }

  @Override
  public String limit(Endpoint endpoint) {
    double queue = endpoint.waiting() / queueThreshold;
    return endpoint.kvUsage() / kvThreshold > queue ? "KV cache" : "requests waiting";
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    int kept = 0;
    for (int i = 0; i < size; i++) {
      keep[i] = saturation(candidates.get(i)) < limit;
      kept += keep[i] ? 1 : 0;
    }
    for (int i = 0; kept == 0 && i < size; i++) {
      keep[i] = true;
    }
  }

  @Override
  public String keeps() {
    return "endpoints with less than %.0f requests waiting and %.0f %% of the KV cache in use"
        .formatted(queueThreshold * limit, 100 * kvThreshold * limit);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "utilization-detector";
    }

    @Override
    public Plugin create(Parameters parameters) {
      parameters.ignored(
          "metricsStalenessThreshold",
          "what was sent from here counts, so that an old scrape changes no decision by itself");
      return new UtilizationDetector(
          parameters.integer("queueDepthThreshold", 5, 1, 1_000_000),
          parameters.number("kvCacheUtilThreshold", 0.8, 0.01, 1),
          parameters.number("headroom", 0, 0, 100));
    }
  }
}
