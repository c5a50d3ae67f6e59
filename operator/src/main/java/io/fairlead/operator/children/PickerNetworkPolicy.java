package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRuleBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeerBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPortBuilder;
import io.fairlead.crds.fairlead.v1alpha1.NetworkPolicySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Who may reach a picker's pods. What a policy doesn't name it forbids, so each port that is meant
 * for others is in it; kubelets are let through by whatever carries policies out.
 */
final class PickerNetworkPolicy {
  private PickerNetworkPolicy() {}

  static NetworkPolicy of(PickerDesign design, NetworkPolicySpec asked) {
    List<NetworkPolicyIngressRule> rules = new ArrayList<>();
    rules.add(
        switch (design.frontend()) {
          case EXT_PROC ->
              rule(
                  asked.requestsFrom(),
                  PickerDeployment.EXT_PROC_PORT,
                  PickerDeployment.HEALTH_PORT);
          case GATEWAY -> rule(asked.requestsFrom(), PickerDeployment.GATEWAY_PORT);
        });
    if (design.handOver() != null) {
      rules.add(rule(List.of(thisPicker(design)), PickerDeployment.HAND_OVER_PORT));
    }
    rules.add(
        rule(
            asked.metricsFrom().isEmpty() ? List.of(metricsReaders()) : asked.metricsFrom(),
            PickerDeployment.METRICS_PORT));
    return new NetworkPolicyBuilder()
        .withMetadata(Children.meta(design, design.picker()).build())
        .withNewSpec()
        .withNewPodSelector()
        .withMatchLabels(Labels.selector(design.picker()))
        .endPodSelector()
        .withPolicyTypes("Ingress")
        .withIngress(rules)
        .endSpec()
        .build();
  }

  private static NetworkPolicyIngressRule rule(List<NetworkPolicyPeer> from, int... ports) {
    return new NetworkPolicyIngressRuleBuilder()
        .withFrom(from)
        .withPorts(Arrays.stream(ports).mapToObj(PickerNetworkPolicy::port).toList())
        .build();
  }

  private static NetworkPolicyPort port(int number) {
    // A list of ports is applied whole: without the server's default in it, it never matches.
    return new NetworkPolicyPortBuilder()
        .withProtocol("TCP")
        .withPort(new IntOrString(number))
        .build();
  }

  private static NetworkPolicyPeer thisPicker(PickerDesign design) {
    return new NetworkPolicyPeerBuilder()
        .withNewPodSelector()
        .withMatchLabels(Labels.selector(design.picker()))
        .endPodSelector()
        .build();
  }

  private static NetworkPolicyPeer metricsReaders() {
    return new NetworkPolicyPeerBuilder()
        .withNewNamespaceSelector()
        .addToMatchLabels("fairlead.io/metrics-reader", "true")
        .endNamespaceSelector()
        .build();
  }
}
