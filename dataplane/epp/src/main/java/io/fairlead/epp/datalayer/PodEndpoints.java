package io.fairlead.epp.datalayer;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fairlead.core.EndpointSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes endpoints of pods: every port of every pod is one. */
final class PodEndpoints {

  private static final String HOST = "kubernetes.io/hostname";

  private PodEndpoints() {}

  /**
   * The pool's endpoints among these pods. A pod may get requests when it is Ready and not on its
   * way out: engines answer their health check while they refuse or abort requests.
   */
  static EndpointSet of(Collection<Pod> pods, Map<String, String> selector, List<Integer> ports) {
    List<EndpointSpec> ready = new ArrayList<>();
    int matching = 0;
    for (Pod pod : pods) {
      Map<String, String> labels = labels(pod);
      if (!labels.entrySet().containsAll(selector.entrySet()) || finished(pod)) {
        continue;
      }
      matching += ports.size();
      if (!mayServe(pod)) {
        continue;
      }
      Map<String, String> shown = withHost(labels, pod.getSpec());
      String name = pod.getMetadata().getName();
      String incarnation = pod.getMetadata().getUid() + "-" + restarts(pod.getStatus());
      for (int rank = 0; rank < ports.size(); rank++) {
        ready.add(
            new EndpointSpec(
                name + "-rank-" + rank,
                incarnation,
                pod.getStatus().getPodIP(),
                ports.get(rank),
                shown));
      }
    }
    ready.sort(Comparator.comparing(EndpointSpec::name));
    return new EndpointSet(ready, matching);
  }

  private static boolean mayServe(Pod pod) {
    PodStatus status = pod.getStatus();
    return pod.getMetadata().getDeletionTimestamp() == null
        && status != null
        && status.getPodIP() != null
        && !status.getPodIP().isEmpty()
        && status.getConditions().stream()
            .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
  }

  private static boolean finished(Pod pod) {
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    return "Succeeded".equals(phase) || "Failed".equals(phase);
  }

  private static int restarts(PodStatus status) {
    int sum = 0;
    for (ContainerStatus container : status.getContainerStatuses()) {
      sum += container.getRestartCount() == null ? 0 : container.getRestartCount();
    }
    return sum;
  }

  /**
   * With the node's name where a node itself would have it: pods are not labelled with their host.
   */
  private static Map<String, String> withHost(Map<String, String> labels, @Nullable PodSpec spec) {
    if (spec == null || spec.getNodeName() == null || labels.containsKey(HOST)) {
      return labels;
    }
    Map<String, String> all = new HashMap<>(labels);
    all.put(HOST, spec.getNodeName());
    return all;
  }

  private static Map<String, String> labels(Pod pod) {
    Map<String, String> labels = pod.getMetadata().getLabels();
    return labels == null ? Map.of() : labels;
  }
}
