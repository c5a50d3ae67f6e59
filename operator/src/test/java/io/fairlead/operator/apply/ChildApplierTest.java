package io.fairlead.operator.apply;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.ObservationBuilder;
import io.fairlead.operator.testing.ScriptedApi;
import io.javaoperatorsdk.operator.api.config.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ChildApplierTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  /**
   * Informers see a Deployment again a moment after its labels are back. What is looked up
   * meanwhile, and is as it should be, is all that is known of it: without it, the pool would be
   * told of as if there were none.
   */
  @Test
  void aDeploymentThatNoInformerShowsIsKnownAsItWasLookedUpLast() throws IOException {
    AtomicInteger version = new AtomicInteger();
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              exchange.getRequestBody().readAllBytes();
              byte[] body = deployment(version.incrementAndGet()).getBytes(UTF_8);
              exchange.getResponseHeaders().add("Content-Type", "application/json");
              exchange.sendResponseHeaders(200, body.length);
              exchange.getResponseBody().write(body);
              exchange.close();
            })) {
      ChildApplier children =
          new ChildApplier(api.client(), new WriteLanes(), LONG, LONG, LONG, (pool, what) -> {});
      Deployment wanted = wanted();
      Observation unseen = observation();
      assertThat(children.apply(List.of(wanted), unseen, context(api.client()))).isEmpty();
      assertThat(ready(children, unseen, wanted)).isEqualTo(1);
      assertThat(children.apply(List.of(wanted), unseen, context(api.client()))).isEmpty();
      assertThat(ready(children, unseen, wanted)).isEqualTo(2);
    }
  }

  private static int ready(ChildApplier children, Observation seen, Deployment wanted) {
    return Objects.requireNonNull(
        children.answered(seen.pool(), wanted).orElseThrow().getStatus().getReadyReplicas());
  }

  /** As the API server has it, with as many ready pods as its version says. */
  private static String deployment(int version) {
    return """
        {"apiVersion": "apps/v1", "kind": "Deployment",
         "metadata": {"name": "pool-epp", "namespace": "a", "uid": "2", "resourceVersion": "%1$d",
                      "labels": {"app.kubernetes.io/managed-by": "fairlead-operator"},
                      "ownerReferences": [{"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool",
                                           "name": "pool", "uid": "1", "controller": true}],
                      "managedFields": [{"manager": "fairlead-epp", "operation": "Apply", "apiVersion": "apps/v1",
                                         "fieldsType": "FieldsV1",
                                         "fieldsV1": {"f:metadata": {"f:labels": {"f:app.kubernetes.io/managed-by": {}},
                                                                     "f:ownerReferences": {"k:{\\"uid\\":\\"1\\"}": {}}},
                                                      "f:spec": {"f:template": {"f:spec": {"f:containers": {
                                                          "k:{\\"name\\":\\"epp\\"}": {".": {}, "f:name": {}}}}}}}}]},
         "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "epp"}]}}},
         "status": {"readyReplicas": %1$d}}
        """
        .formatted(version);
  }

  private static Deployment wanted() {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withName("pool-epp")
        .withNamespace("a")
        .addToLabels(Labels.MANAGED_BY, Labels.MANAGER)
        .addNewOwnerReference()
        .withApiVersion("inference.networking.k8s.io/v1")
        .withKind("InferencePool")
        .withName("pool")
        .withUid("1")
        .withController(true)
        .endOwnerReference()
        .endMetadata()
        .withNewSpec()
        .withNewTemplate()
        .withNewSpec()
        .addNewContainer()
        .withName("epp")
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private static Observation observation() {
    InferencePool pool = new InferencePool();
    pool.getMetadata().setNamespace("a");
    pool.getMetadata().setName("pool");
    pool.getMetadata().setUid("1");
    return ObservationBuilder.of(pool).build();
  }

  @SuppressWarnings("unchecked")
  private static Context<InferencePool> context(KubernetesClient client) {
    ControllerConfiguration<?> config =
        only(ControllerConfiguration.class, "fieldManager", "fairlead-epp");
    return (Context<InferencePool>)
        Proxy.newProxyInstance(
            ChildApplierTest.class.getClassLoader(),
            new Class<?>[] {Context.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getClient" -> client;
                  case "getControllerConfiguration" -> config;
                  default -> throw new UnsupportedOperationException(method.toString());
                });
  }

  private static <T> T only(Class<T> type, String name, Object answer) {
    return type.cast(
        Proxy.newProxyInstance(
            ChildApplierTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (method.getName().equals(name)) {
                return answer;
              }
              throw new UnsupportedOperationException(method.toString());
            }));
  }
}
