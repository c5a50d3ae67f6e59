package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.fairlead.v1alpha1.MonitoringSpec;
import io.fairlead.crds.fairlead.v1alpha1.MonitoringSpec.PodMonitorSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The PodMonitor of a picker: an object of a kind that the cluster need not have. */
public final class PickerMonitor {
  public static final String GROUP = "monitoring.coreos.com";
  public static final String VERSION = "v1";
  public static final String KIND = "PodMonitor";

  private PickerMonitor() {}

  /** Empty when none is asked for. */
  public static Optional<GenericKubernetesResource> of(PickerDesign design) {
    MonitoringSpec monitoring = design.settings().monitoring();
    PodMonitorSpec asked = monitoring == null ? null : monitoring.podMonitor();
    if (asked == null) {
      return Optional.empty();
    }
    GenericKubernetesResource monitor = new GenericKubernetesResource();
    monitor.setApiVersion(GROUP + "/" + VERSION);
    monitor.setKind(KIND);
    Map<String, String> labels = new LinkedHashMap<>(asked.labels());
    labels.putAll(Labels.all(design.picker()));
    monitor.setMetadata(Children.meta(design, design.picker()).withLabels(labels).build());
    Map<String, Object> endpoint = new LinkedHashMap<>();
    endpoint.put("port", "http-metrics");
    if (asked.interval() != null) {
      endpoint.put("interval", asked.interval());
    }
    monitor.setAdditionalProperty(
        "spec",
        Map.of(
            "selector",
            Map.of("matchLabels", Labels.selector(design.picker())),
            "podMetricsEndpoints",
            List.of(endpoint)));
    return Optional.of(monitor);
  }
}
