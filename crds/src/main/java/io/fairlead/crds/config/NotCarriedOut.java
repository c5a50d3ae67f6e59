package io.fairlead.crds.config;

import java.util.ArrayList;
import java.util.List;

/**
 * What a document says that is read and checked, but that this release does nothing about.
 *
 * @param path field of the document
 * @param message what becomes of it
 */
public record NotCarriedOut(String path, String message) {

  /** All of it, in the order of the document. */
  public static List<NotCarriedOut> of(SchedulerConfig config) {
    List<NotCarriedOut> found = new ArrayList<>();
    if (config.featureGates().containsKey("enableLegacyMetrics")) {
      found.add(
          new NotCarriedOut(
              "featureGates",
              "enableLegacyMetrics has no effect: the picker's metrics are those of"
                  + " docs/reference/metrics.md"));
    }
    if (!config.featureGates().getOrDefault("haPopulateNonLeaderDatastore", true)) {
      found.add(
          new NotCarriedOut(
              "featureGates",
              "haPopulateNonLeaderDatastore=false has no effect: every replica watches endpoints"));
    }
    FlowControlConfig flow = config.flowControl();
    if (flow != null && !config.flowControlled()) {
      found.add(
          new NotCarriedOut(
              "flowControl",
              "is checked, and but for its saturationDetector has no effect with"
                  + " flowControl=false: nothing is queued, and sheddable requests are refused while"
                  + " every endpoint is full"));
    }
    DataLayerConfig data = config.dataLayer();
    if (data != null) {
      dataLayer(data, found);
    }
    return found;
  }

  private static void dataLayer(DataLayerConfig data, List<NotCarriedOut> found) {
    if (Boolean.FALSE.equals(data.injectDefaults())) {
      found.add(
          new NotCarriedOut(
              "dataLayer.injectDefaults",
              "has no effect: the servers' metrics are always read, as the scheduler needs them"));
    }
    if (data.crossReplicaSyncInterval() != null || data.crossReplicaSyncer() != null) {
      found.add(
          new NotCarriedOut(
              "dataLayer", "syncs nothing between replicas: each goes by what it sees itself"));
    }
  }
}
