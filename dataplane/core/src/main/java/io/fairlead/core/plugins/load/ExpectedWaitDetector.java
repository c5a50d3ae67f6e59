package io.fairlead.core.plugins.load;

import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.SaturationDetector;

/**
 * How full an endpoint is by what a further request would have to wait for there, whatever the
 * hardware and the model: a turn behind those who are in line, as they get theirs of late, a place
 * in the queue that the server tells of, or room in its KV cache. An endpoint that computes one
 * prompt has room for a second one, however long the first is: it would stand idle in between.
 */
final class ExpectedWaitDetector implements SaturationDetector {

  private static final double MILLI = 1e6;

  private final double mostWait;
  private final double mostWaiting;
  private final double mostUsage;

  ExpectedWaitDetector(double mostWaitMillis, int mostWaiting, double mostUsage) {
    this.mostWait = mostWaitMillis * MILLI;
    this.mostWaiting = mostWaiting;
    this.mostUsage = mostUsage;
  }

  @Override
  public double saturation(Endpoint endpoint) {
    // Those who wait for an adapter wait for its turn, and not for room that others would take.
    boolean queue = endpoint.adapters().slots() == 0;
    double most = queue ? endpoint.scrapedWaiting() / mostWaiting : 0;
    if (endpoint.prefills().count() > 1) {
      most = Math.max(most, endpoint.expectedWait() / mostWait);
    }
    return Math.max(most, usage(endpoint) / mostUsage);
  }

  /** Of its KV cache: as it tells itself or, where it doesn't, by what was sent there. */
  private static double usage(Endpoint endpoint) {
    double told = endpoint.kvUsage();
    if (!Double.isNaN(told)) {
      return told;
    }
    long capacity = endpoint.kvCapacityTokens();
    long kept = endpoint.inFlightTokens() - endpoint.repeatedInFlightTokens();
    return capacity > 0 ? kept / (double) capacity : 0;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "expected-wait-detector";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new ExpectedWaitDetector(
          parameters.number("maxWaitMs", 100, 1, 1_000_000),
          parameters.integer("queueDepthThreshold", 5, 1, 1_000_000),
          parameters.number("kvCacheUtilThreshold", 0.95, 0.01, 1));
    }
  }
}
