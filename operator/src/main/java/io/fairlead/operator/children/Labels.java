package io.fairlead.operator.children;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** Labels and annotations of our own, and the values that others may rely on. */
public final class Labels {
  /** Names the picker (see {@link Names#child}) on pods, children and status Leases. */
  public static final String PICKER = "fairlead.io/picker";

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

  static Map<String, String> all(String picker) {
    return sorted(
        Map.of(
            "app.kubernetes.io/name",
            "fairlead-epp",
            "app.kubernetes.io/instance",
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

  private static Map<String, String> sorted(Map<String, String> labels) {
    return Collections.unmodifiableMap(new TreeMap<>(labels));
  }
}
