package io.fairlead.lab.peers;

import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.SaturationDetector;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Upstream's utilization detector as it gates: the mean over all endpoints of the larger of queue
 * over 5 and KV use over 0.8, as last scraped. All of a pool are as full as their mean. From
 * gateway-api-inference-extension, {@code
 * pkg/epp/framework/plugins/flowcontrol/saturationdetector/utilization} at c86af767. Upstream works
 * the mean out for each request; here an endpoint's part in it is as old as the scrape or the send
 * there that came last, and no scrape is stale. Endpoints that have left the pool have no part in
 * it.
 */
final class PolledMeanDetector implements SaturationDetector {

  private static final double QUEUE = 5;

  private final double mostUsage;
  private final Predicate<String> there;
  private final Map<String, Double> last = new LinkedHashMap<>();

  PolledMeanDetector(double mostUsage, Predicate<String> there) {
    this.mostUsage = mostUsage;
    this.there = there;
  }

  @Override
  public double saturation(Endpoint endpoint) {
    double usage = endpoint.kvUsage();
    double own =
        Math.max(endpoint.scrapedWaiting() / QUEUE, Double.isNaN(usage) ? 0 : usage / mostUsage);
    last.put(endpoint.name(), own);
    last.keySet().removeIf(there.negate());
    return last.values().stream().mapToDouble(part -> part).average().orElse(own);
  }

  static final class Factory implements PluginFactory {

    private final Predicate<String> there;

    Factory(Predicate<String> there) {
      this.there = there;
    }

    @Override
    public String type() {
      return "polled-mean-detector";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new PolledMeanDetector(0.8, there);
    }
  }
}
