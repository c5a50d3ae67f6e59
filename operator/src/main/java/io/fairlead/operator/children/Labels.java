package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Labels and annotations of our own, and the values that others may rely on. */
public final class Labels {
  /** Names the picker (see {@link Names#child}) on pods, children and status Leases. */
  public static final String PICKER = "fairlead.io/picker";

  /**
   * On pods with a NetworkPolicy of their own: what an install has for all pickers, which would add
   * to it, leaves these out.
   */
  static final String NETWORK_POLICY = "fairlead.io/network-policy";

  /** Names the picker on pods and children, as tools that show what belongs together read it. */
  public static final String INSTANCE = "app.kubernetes.io/instance";

  /** Tells the pods of one template of a Deployment from those of others; its controller's. */
  public static final String TEMPLATE = "pod-template-hash";

  /** On every child: the operator made it. */
  public static final String MANAGED_BY = "app.kubernetes.io/managed-by";

  public static final String MANAGER = "fairlead-operator";

  /** Selects every child. */
  public static final String CHILDREN_SELECTOR = MANAGED_BY + "=" + MANAGER;

  private Labels() {}

  /** Labels that never change in a pool's life, so fit for a Deployment's immutable selector. */
  public static Map<String, String> selector(String picker) {
    return sorted(Map.of("app.kubernetes.io/name", "fairlead-epp", PICKER, picker));
  }

  /** Whether of all policies only one of its own is for a pod with this metadata. */
  public static boolean leftToOwnPolicy(@Nullable ObjectMeta pod) {
    Map<String, String> labels = pod == null ? null : pod.getLabels();
    return labels != null && labels.containsKey(NETWORK_POLICY);
  }

  /** What all that belongs to a picker carries, its pods too, whatever else is asked of these. */
  public static Map<String, String> all(String picker) {
    return sorted(
        Map.of(
            "app.kubernetes.io/name",
            "fairlead-epp",
            INSTANCE,
            picker,
            "app.kubernetes.io/component",
            "endpoint-picker",
            "app.kubernetes.io/part-of",
            "fairlead",
            MANAGED_BY,
            MANAGER,
            PICKER,
            picker));
  }

  /** Labels in one order, as {@code kubectl -l} takes them. */
  public static String text(Map<String, String> labels) {
    return sorted(labels).entrySet().stream()
        .map(label -> label.getKey() + "=" + label.getValue())
        .collect(Collectors.joining(","));
  }

  private static Map<String, String> sorted(Map<String, String> labels) {
    return Collections.unmodifiableMap(new TreeMap<>(labels));
  }
}
