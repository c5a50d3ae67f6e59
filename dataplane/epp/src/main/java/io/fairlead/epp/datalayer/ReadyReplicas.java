package io.fairlead.epp.datalayer;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** How many pickers the EndpointSlices of their Services list as ready. */
final class ReadyReplicas {

  private ReadyReplicas() {}

  /**
   * Counts each pod once, whatever slices it is in: those of a Service with two address families
   * both have it, and of two Services in a renaming both. Who asks is one of them, so it is at
   * least 1, also while it is not listed yet.
   */
  static int count(Collection<EndpointSlice> slices) {
    Set<String> pods = new HashSet<>();
    // Without a reference nobody can tell which addresses of two families are of the same picker.
    Map<String, Set<String>> addresses = new HashMap<>();
    for (EndpointSlice slice : slices) {
      for (Endpoint endpoint : endpoints(slice)) {
        if (!isReady(endpoint)) {
          continue;
        }
        ObjectReference target = endpoint.getTargetRef();
        if (target != null && target.getName() != null) {
          pods.add(target.getName());
        } else if (!endpoint.getAddresses().isEmpty()) {
          addresses
              .computeIfAbsent(
                  Objects.requireNonNullElse(slice.getAddressType(), ""), type -> new HashSet<>())
              .add(endpoint.getAddresses().getFirst());
        }
      }
    }
    int nameless = addresses.values().stream().mapToInt(Set::size).max().orElse(0);
    return Math.max(1, pods.size() + nameless);
  }

  /** Null as an API server writes it while no pod is behind the Service. */
  private static List<Endpoint> endpoints(EndpointSlice slice) {
    return Objects.requireNonNullElse(slice.getEndpoints(), List.of());
  }

  /** A condition that is missing is unknown, which consumers are to take for ready. */
  private static boolean isReady(Endpoint endpoint) {
    EndpointConditions conditions = endpoint.getConditions();
    return conditions == null
        || (!Boolean.FALSE.equals(conditions.getReady())
            && !Boolean.TRUE.equals(conditions.getTerminating()));
  }

  /** An address of each that is ready; of a pod that has several, always the same one. */
  static List<String> addresses(Collection<EndpointSlice> slices) {
    Map<String, String> addresses = new HashMap<>();
    for (EndpointSlice slice : slices) {
      for (Endpoint endpoint : endpoints(slice)) {
        if (isReady(endpoint) && !endpoint.getAddresses().isEmpty()) {
          String address = endpoint.getAddresses().getFirst();
          ObjectReference pod = endpoint.getTargetRef();
          String name = pod == null || pod.getName() == null ? address : pod.getName();
          addresses.merge(name, address, (a, b) -> a.compareTo(b) <= 0 ? a : b);
        }
      }
    }
    return addresses.values().stream().distinct().sorted().toList();
  }
}
