package io.fairlead.core;

import io.fairlead.plugin.EndpointAttributes;
import java.util.Map;

/**
 * Reads what an endpoint is from its pod's labels; of several keys the first that is there counts.
 */
public final class EndpointLabels {

  private EndpointLabels() {}

  /** What they say. */
  public static EndpointAttributes attributes(Map<String, String> labels) {
    if (labels.isEmpty()) {
      return EndpointAttributes.NONE;
    }
    return new EndpointAttributes(
        first(labels, "fairlead.io/role", "llm-d.ai/role"),
        first(labels, "fairlead.io/accelerator", "nvidia.com/gpu.product"),
        first(labels, "fairlead.io/latency-class"),
        first(labels, "topology.kubernetes.io/zone"),
        first(labels, "topology.kubernetes.io/rack"),
        first(labels, "kubernetes.io/hostname"));
  }

  private static String first(Map<String, String> labels, String... keys) {
    for (String key : keys) {
      String value = labels.get(key);
      if (value != null) {
        return value;
      }
    }
    return "";
  }
}
