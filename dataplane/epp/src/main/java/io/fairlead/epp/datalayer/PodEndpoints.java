package io.fairlead.epp.datalayer;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fairlead.core.EndpointSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes endpoints of pods: every port of every pod is one. */
final class PodEndpoints {

  private static final String HOST = "kubernetes.io/hostname";

  /** Annotations with the ports, parted by commas, that a pod serves of those of its pool. */
  private static final List<String> ACTIVE_PORTS =
      List.of("inference.networking.k8s.io/active-ports", "llm-d.ai/active-ports");

  private PodEndpoints() {}

  /**
   * The pool's endpoints among these pods. A pod may get requests when it is Ready and not on its
   * way out: engines answer their health check while they refuse or abort requests. Where as many
   * or more are not Ready only since their nodes were not heard of, these may get requests, too.
   */
  static EndpointSet of(Collection<Pod> pods, Map<String, String> selector, List<Integer> ports) {
    List<EndpointSpec> ready = new ArrayList<>();
    Map<String, String> places = new HashMap<>();
    int matching = 0;
    List<Pod> selected = pods.stream().filter(pod -> isSelected(pod, selector)).toList();
    boolean silentToo = areMostlySilent(selected);
    for (Pod pod : selected) {
      Set<Integer> active = active(pod, ports);
      matching += active.size();
      if (!stays(pod) || !(isReady(pod) || (silentToo && isOfSilentNode(pod)))) {
        continue;
      }
      Map<String, String> shown = withHost(labels(pod), pod.getSpec());
      String name = pod.getMetadata().getName();
      String incarnation = pod.getMetadata().getUid() + "-" + restarts(pod, ports);
      for (int rank = 0; rank < ports.size(); rank++) {
        if (active.contains(ports.get(rank))) {
          String endpoint = name + "-rank-" + rank;
          int port = ports.get(rank);
          ready.add(
              new EndpointSpec(endpoint, incarnation, pod.getStatus().getPodIP(), port, shown));
          places.put(endpoint, pod.getMetadata().getNamespace() + "/" + name + ":" + port);
        }
      }
    }
    ready.sort(Comparator.comparing(EndpointSpec::name));
    return new EndpointSet(ready, matching, places);
  }

  private static boolean isSelected(Pod pod, Map<String, String> selector) {
    return labels(pod).entrySet().containsAll(selector.entrySet()) && !finished(pod);
  }

  private static boolean stays(Pod pod) {
    PodStatus status = pod.getStatus();
    return pod.getMetadata().getDeletionTimestamp() == null
        && status != null
        && status.getPodIP() != null
        && !status.getPodIP().isEmpty();
  }

  private static boolean isReady(Pod pod) {
    return "True".equals(condition(pod.getStatus(), "Ready"));
  }

  /**
   * Whether it is rather the control plane that was away than the nodes: it calls the pods of all
   * nodes not Ready then, while model servers go on.
   */
  private static boolean areMostlySilent(List<Pod> selected) {
    int ready = 0;
    int silent = 0;
    for (Pod pod : selected) {
      if (stays(pod)) {
        ready += isReady(pod) ? 1 : 0;
        silent += isOfSilentNode(pod) ? 1 : 0;
      }
    }
    return silent >= ready;
  }

  /**
   * Whether it is only the control plane that calls the pod not Ready, since the node's kubelet has
   * not told of itself: that leaves the kubelet's own last word on the containers as it was.
   */
  private static boolean isOfSilentNode(Pod pod) {
    PodStatus status = pod.getStatus();
    return "False".equals(condition(status, "Ready"))
        && "True".equals(condition(status, "ContainersReady"))
        && pod.getSpec() != null
        && pod.getSpec().getReadinessGates().stream()
            .allMatch(gate -> "True".equals(condition(status, gate.getConditionType())));
  }

  private static @Nullable String condition(PodStatus status, String type) {
    for (PodCondition condition : status.getConditions()) {
      if (type.equals(condition.getType())) {
        return condition.getStatus();
      }
    }
    return null;
  }

  private static boolean finished(Pod pod) {
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    return "Succeeded".equals(phase) || "Failed".equals(phase);
  }

  /** Those of the pool's ports that the pod says it serves; all when it says nothing. */
  private static Set<Integer> active(Pod pod, List<Integer> ports) {
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    String said =
        annotations == null
            ? null
            : ACTIVE_PORTS.stream()
                .map(annotations::get)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    if (said == null) {
      return Set.copyOf(ports);
    }
    Set<String> listed =
        Arrays.stream(said.split(",")).map(String::strip).collect(Collectors.toSet());
    return ports.stream()
        .filter(port -> listed.contains(String.valueOf(port)))
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Of the engine's containers: a sidecar that restarts empties no KV cache. */
  private static int restarts(Pod pod, List<Integer> ports) {
    List<Container> containers = pod.getSpec() == null ? List.of() : pod.getSpec().getContainers();
    Set<String> engines =
        containers.stream()
            .filter(
                container ->
                    container.getPorts().stream()
                        .anyMatch(port -> ports.contains(port.getContainerPort())))
            .map(Container::getName)
            .collect(Collectors.toSet());
    if (engines.isEmpty() && !containers.isEmpty()) {
      // Ports need not be declared; the first container is the main one by convention.
      engines.add(containers.getFirst().getName());
    }
    return pod.getStatus().getContainerStatuses().stream()
        .filter(container -> engines.contains(container.getName()))
        .mapToInt(
            container -> container.getRestartCount() == null ? 0 : container.getRestartCount())
        .sum();
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
