package io.fairlead.e2e;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerStatus;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.e2e.cluster.Checkout;
import io.fairlead.e2e.cluster.Cluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Fairlead and its samples on a cluster, put there by the commands of the README. */
final class Installation implements AutoCloseable {

  static final String NAMESPACE = "default";
  static final String POOL = "sample";
  private static final int MODEL_SERVERS = 3;
  private static final String POOLS = "inferencepools.inference.networking.k8s.io";
  private static final String MODELS = "inferencemodels.inference.networking.x-k8s.io";
  private static final String PICKERS = "endpointpickers.fairlead.io";
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private final Kubectl kubectl;
  private final KubernetesClient client;

  private Installation(Kubectl kubectl, KubernetesClient client) {
    this.kubectl = kubectl;
    this.client = client;
  }

  /** Loads the images, installs the operator and applies the samples; doesn't wait for them. */
  static Installation on(Cluster cluster) {
    Checkout checkout = Checkout.find();
    checkout.run("images", "--no-load");
    Path images = checkout.root().resolve("target/images");
    cluster.loadImage(images.resolve("dataplane.tar"));
    cluster.loadImage(images.resolve("operator.tar"));
    var installation =
        new Installation(new Kubectl(checkout, cluster.kubeconfig()), cluster.client());
    var kinds = installation.client.resources(CustomResourceDefinition.class);
    List<String> made = new ArrayList<>(List.of(PICKERS));
    if (kinds.withName(POOLS).get() == null) {
      installation.kubectl.run("create", "-k", "config/upstream-crd");
      made.addAll(List.of(POOLS, MODELS));
    }
    installation.kubectl.run("apply", "-k", "config/default");
    // They can be used a moment after they are there.
    made.forEach(kind -> Crds.awaitServed(installation.client, kinds.withName(kind).require()));
    installation.kubectl.run("apply", "-f", "config/samples");
    return installation;
  }

  Kubectl kubectl() {
    return kubectl;
  }

  KubernetesClient client() {
    return client;
  }

  /**
   * Waits until the pool and every model of the samples say that they are ready, and all model
   * servers are endpoints: the pool is ready with the first of them.
   */
  void awaitReady() {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              assertTrue(poolConditions(), "Ready");
              assertTrue(modelConditions("chat"), "Ready");
              assertTrue(modelConditions("summarize"), "Ready");
              EndpointPickerStatus picker =
                  client
                      .resources(EndpointPicker.class)
                      .inNamespace(NAMESPACE)
                      .withName(POOL)
                      .require()
                      .getStatus();
              if (picker == null
                  || picker.endpoints() == null
                  || !Objects.equals(picker.endpoints().ready(), MODEL_SERVERS)) {
                throw new AssertionError("not all model servers are endpoints: " + picker);
              }
            });
  }

  /** Conditions of the operator's entry in the pool's status, by type. */
  Map<String, Condition> poolConditions() {
    InferencePool pool =
        client.resources(InferencePool.class).inNamespace(NAMESPACE).withName(POOL).require();
    List<ParentStatus> parents = pool.getStatus() == null ? List.of() : pool.getStatus().parents();
    return byType(
        parents.stream()
            .filter(parent -> "fairlead.io/operator".equals(parent.controllerName()))
            .flatMap(parent -> parent.conditions().stream())
            .toList());
  }

  /** Conditions of a model, by type. */
  Map<String, Condition> modelConditions(String name) {
    InferenceModel model =
        client.resources(InferenceModel.class).inNamespace(NAMESPACE).withName(name).require();
    return byType(model.getStatus() == null ? List.of() : model.getStatus().conditions());
  }

  @Override
  public void close() {
    try (client) {
      kubectl.run("delete", "-f", "config/samples", "--ignore-not-found", "--wait=false");
      kubectl.run("delete", "-k", "config/default", "--ignore-not-found", "--timeout=60s");
    }
  }

  private static void assertTrue(Map<String, Condition> conditions, String type) {
    Condition condition = conditions.get(type);
    if (condition == null || !condition.getStatus().equals("True")) {
      throw new AssertionError(type + " is not True: " + conditions.values());
    }
  }

  private static Map<String, Condition> byType(List<Condition> conditions) {
    return conditions.stream().collect(Collectors.toMap(Condition::getType, found -> found));
  }
}
