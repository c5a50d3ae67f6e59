package io.fairlead.lab.peers;

import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.SaturationDetector;
import java.util.HashMap;
import java.util.Map;

/**
 * Upstream's utilization detector as it gates: the mean over all endpoints of the larger of queue
 * over 5 and KV use over 0.8, as last scraped. All of a pool are as full as their mean. From
 * gateway-api-inference-extension, {@code
 * pkg/epp/framework/plugins/flowcontrol/saturationdetector/utilization} at c86af767. Upstream works
 * the mean out for each request; here an endpoint's part in it is as old as the scrape or the send
 * there that came last, and no scrape is stale.
 */
final class PolledMeanDetector implements SaturationDetector {

  private static final double QUEUE = 5;

  private final double mostUsage;
  private final Map<String, Double> last = new HashMap<>();
  private double sum;

  PolledMeanDetector(double mostUsage) {
    this.mostUsage = mostUsage;
  }

  @Override
  public double saturation(Endpoint endpoint) {
    double usage = endpoint.kvUsage();
    double own =
        Math.max(endpoint.scrapedWaiting() / QUEUE, Double.isNaN(usage) ? 0 : usage / mostUsage);
    Double before = last.put(endpoint.name(), own);
    sum += own - (before == null ? 0 : before);
    return Math.max(0, sum / last.size());
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "polled-mean-detector";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new PolledMeanDetector(0.8);
    }
  }
}
