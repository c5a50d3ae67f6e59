package io.fairlead.operator.testing;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fairlead.operator.children.Labels;

/** Pods of a Deployment as its controllers make them, but with a container that nobody starts. */
public final class DeployedPods {
  private static final String TEMPLATE = "5d8f7c";

  private DeployedPods() {}

  /** One that is not there yet. */
  public static Pod of(Deployment deployment, String name) {
    String replicaSet = deployment.getMetadata().getName() + "-" + TEMPLATE;
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(deployment.getMetadata().getNamespace())
        .withLabels(deployment.getSpec().getTemplate().getMetadata().getLabels())
        .addToLabels(Labels.TEMPLATE, TEMPLATE)
        .addNewOwnerReference()
        .withApiVersion("apps/v1")
        .withKind("ReplicaSet")
        .withName(replicaSet)
        .withUid(replicaSet)
        .withController(true)
        .endOwnerReference()
        .endMetadata()
        .withNewSpec()
        .withAutomountServiceAccountToken(false)
        .withTerminationGracePeriodSeconds(0L)
        .addNewContainer()
        .withName("epp")
        .withImage("x")
        .endContainer()
        .endSpec()
        .build();
  }
}
