package io.fairlead.crds.testing;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.Map;

/** Pods that no kubelet runs: a test says how they are. */
public final class TestPods {

  private TestPods() {}

  /** One with a container that nobody starts. */
  public static Pod named(String name, String namespace, Map<String, String> labels) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("c")
        .withImage("none")
        .endContainer()
        .endSpec()
        .build();
  }

  /** The same, running at an address, ready or not. */
  public static Pod running(Pod pod, String address, boolean ready, int restarts) {
    return new PodBuilder(pod)
        .withNewStatus()
        .withPhase("Running")
        .withPodIP(address)
        .addNewPodIP(address)
        .addNewCondition()
        .withType("Ready")
        .withStatus(ready ? "True" : "False")
        .endCondition()
        .addNewContainerStatus()
        .withName("c")
        .withImage("none")
        .withImageID("none")
        .withReady(ready)
        .withRestartCount(restarts)
        .endContainerStatus()
        .endStatus()
        .build();
  }
}
