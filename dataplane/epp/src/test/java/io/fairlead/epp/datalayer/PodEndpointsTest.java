package io.fairlead.epp.datalayer;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodReadinessGate;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.core.EndpointSpec;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PodEndpointsTest {

  private static final Map<String, String> SELECTOR = Map.of("app", "vllm");

  private static Pod pod(String annotations, int engineRestarts, int sidecarRestarts) {
    return Serialization.unmarshal(
        """
        metadata: {name: a, namespace: ns, uid: u, labels: {app: vllm}, annotations: {%s}}
        spec:
          containers:
            - {name: proxy, ports: [{containerPort: 15000}]}
            - {name: engine, ports: [{containerPort: 8000}, {containerPort: 8001}]}
        status:
          podIP: 10.0.0.1
          conditions: [{type: Ready, status: "True"}]
          containerStatuses:
            - {name: engine, restartCount: %d}
            - {name: proxy, restartCount: %d}
        """
            .formatted(annotations, engineRestarts, sidecarRestarts),
        Pod.class);
  }

  private static EndpointSet of(Pod... pods) {
    return PodEndpoints.of(List.of(pods), SELECTOR, List.of(8000, 8001));
  }

  @Test
  void aSidecarsRestartIsNoNewEngine() {
    assertThat(of(pod("", 0, 3))).isEqualTo(of(pod("", 0, 0)));
    assertThat(of(pod("", 1, 0))).isNotEqualTo(of(pod("", 0, 0)));
  }

  @Test
  void aPodSaysWhichOfThePortsItServes() {
    for (String name :
        List.of("inference.networking.k8s.io/active-ports", "llm-d.ai/active-ports")) {
      EndpointSet set = of(pod("\"" + name + "\": \"8001, 9999\"", 0, 0));
      assertThat(set.ready()).extracting(EndpointSpec::name).containsExactly("a-rank-1");
      assertThat(set.ready()).extracting(EndpointSpec::port).containsExactly(8001);
      assertThat(set.matching()).isEqualTo(1);
    }
    assertThat(of(pod("", 0, 0)).placesOfReady())
        .isEqualTo(Map.of("a-rank-0", "ns/a:8000", "a-rank-1", "ns/a:8001"));
  }

  /** As the control plane leaves the pods of nodes that it has not heard of. */
  @Test
  void aPodThatIsNotReadyForItsNodeAloneStaysAnEndpoint() {
    assertThat(withConditions("", "Ready: False, ContainersReady: True").ready()).hasSize(2);
    assertThat(
            withConditions("a.b/gate", "Ready: False, ContainersReady: True, a.b/gate: True")
                .ready())
        .hasSize(2);
  }

  /** Where most nodes are heard of, a silent one is gone for itself. */
  @Test
  void podsOfSilentNodesStayWhereTheyAreAsManyAsOthers() {
    Pod ready = conditions(pod("", 0, 0), "Ready: True, ContainersReady: True");
    Pod silent = conditions(pod("", 0, 0), "Ready: False, ContainersReady: True");
    assertThat(of(ready, silent).ready()).hasSize(4);
    assertThat(of(ready, ready, silent).ready()).hasSize(4);
    assertThat(of(ready, silent, silent).ready()).hasSize(6);
    silent.getMetadata().setDeletionTimestamp("2026-01-01T00:00:00Z");
    assertThat(of(ready, silent).ready()).hasSize(2);
  }

  @Test
  void aPodThatIsNotReadyByItselfIsNone() {
    assertThat(withConditions("", "Ready: False, ContainersReady: False").ready()).isEmpty();
    assertThat(withConditions("", "Ready: False").ready()).isEmpty();
    assertThat(withConditions("", "ContainersReady: True").ready()).isEmpty();
    assertThat(withConditions("a.b/gate", "Ready: False, ContainersReady: True").ready()).isEmpty();
    assertThat(
            withConditions("a.b/gate", "Ready: False, ContainersReady: True, a.b/gate: False")
                .ready())
        .isEmpty();
  }

  private static EndpointSet withConditions(String gate, String conditions) {
    Pod pod = pod("", 0, 0);
    if (!gate.isEmpty()) {
      pod.getSpec().setReadinessGates(List.of(new PodReadinessGate(gate)));
    }
    return of(conditions(pod, conditions));
  }

  private static Pod conditions(Pod pod, String conditions) {
    pod.getStatus()
        .setConditions(
            Stream.of(conditions.split(", "))
                .map(condition -> condition.split(": "))
                .map(
                    condition ->
                        new PodConditionBuilder()
                            .withType(condition[0])
                            .withStatus(condition[1])
                            .build())
                .toList());
    return pod;
  }
}
