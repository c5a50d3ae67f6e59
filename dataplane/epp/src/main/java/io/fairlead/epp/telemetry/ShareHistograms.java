package io.fairlead.epp.telemetry;

import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/**
 * Shares of prompts, 0 to 1, by model. Micrometer's summaries round what they put into buckets up
 * to whole numbers.
 */
final class ShareHistograms {

  private static final double[] BOUNDS = {
    0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1
  };

  private final Histogram believed;
  private final Histogram error;

  ShareHistograms(PrometheusRegistry registry) {
    believed =
        histogram(
            registry,
            "fairlead_prefix_believed_share",
            "Share of a prompt believed to be cached where it was sent.");
    error =
        histogram(
            registry,
            "fairlead_prefix_share_error",
            "Difference between the shares of a prompt that were believed and reported to be"
                + " cached.");
  }

  DistributionDataPoint believed(String model) {
    return believed.labelValues(model);
  }

  DistributionDataPoint error(String model) {
    return error.labelValues(model);
  }

  void forget(String model) {
    believed.remove(model);
    error.remove(model);
  }

  private static Histogram histogram(PrometheusRegistry registry, String name, String help) {
    return Histogram.builder()
        .name(name)
        .help(help)
        .labelNames("model")
        .withoutExemplars()
        .classicOnly()
        .classicUpperBounds(BOUNDS)
        .register(registry);
  }
}
