package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Kustomization;
import io.fairlead.operator.testing.PoolFixture;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import java.net.URI;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code kubectl apply -k} of the folders in {@code config} puts on a cluster. */
@ExtendWith(KubeApi.class)
class InstallIT {

  @ParameterizedTest
  @ValueSource(strings = {"default", "with-gateway", "cluster"})
  void anApiServerTakesAllOfIt(String folder, KubernetesClient admin) {
    String rendered = Kustomization.render(folder);
    Kustomization.apply(admin, rendered);
    for (HasMetadata object : Kustomization.objects(admin, rendered)) {
      assertThat(admin.resource(object).get()).as(object.toString()).isNotNull();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"default", "with-gateway", "cluster", "namespaced"})
  void noKindOfUpstreamsIsOwned(String folder, KubernetesClient admin) {
    assertThat(Kustomization.objects(admin, Kustomization.render(folder)))
        .noneMatch(object -> object.getMetadata().getName().contains("inference.networking"));
  }

  @Test
  void theNamespacedOneHasNothingOfTheClusters(KubernetesClient admin) {
    assertThat(Kustomization.objects(admin, Kustomization.render("namespaced")))
        .isNotEmpty()
        .allMatch(Namespaced.class::isInstance)
        .allMatch(object -> object.getMetadata().getNamespace().equals("fairlead"));
  }

  @Test
  void aNamespacedOperatorServesItsNamespaceWithRightsThereAlone(KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("namespaced"));
    String rendered =
        Kustomization.renderOverlay(
            "namespace: " + pool.namespace() + "\nresources: [CONFIG/namespaced]\n");
    Kustomization.apply(cluster.admin(), rendered);
    Deployment operator = deployment(cluster.admin(), rendered);
    assertThat(container(operator).getArgs())
        .containsExactly("--watch-namespaces=$(POD_NAMESPACE)");

    AuditLog.Mark before = server.audit().mark();
    var client =
        cluster.as(
            pool.namespace(), operator.getSpec().getTemplate().getSpec().getServiceAccountName());
    try (var process =
        new OperatorProcess(OperatorUnderTest.on(client, pool, false, Metrics.NOOP), client)) {
      process.elect(
          pool.namespace(),
          "fairlead-operator",
          "me",
          new Fence(
              URI.create("https://api.test"),
              Leadership.LEASE,
              System::nanoTime,
              InstantSource.system()),
          () -> {},
          () -> {});
      pool.createPool();
      pool.createPicker("mine", "{name: pool}");
      pool.createModel("chat", "chat", 90);
      pool.becomeReady();
      pool.awaitModel("chat", "Ready", "True/Ready");
      pool.awaitPicker("mine", "Ready", "True/Ready");
      cluster
          .admin()
          .resource(pool.need(InferencePool.class, PoolFixture.POOL))
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"spec\":{\"endpointPickerRef\":{\"name\":\"renamed\"}}}");
      await()
          .until(
              () ->
                  server.audit().since(before).stream()
                      .filter(request -> request.namespace().equals(pool.namespace()))
                      .anyMatch(request -> request.resource().equals("endpointslices")));
      pool.delete(EndpointPicker.class, "mine");
      await().until(() -> pool.get(Deployment.class, PoolFixture.PICKER) == null);
    }
    assertThat(rights(cluster.admin(), rendered))
        .as("the same as of one that serves the cluster, which are used to the last")
        .isEqualTo(rights(cluster.admin(), Kustomization.render("rbac")));
  }

  @Test
  void imagesAreSetInOnePlace(KubernetesClient admin) {
    String digest = "sha256:" + "0123456789abcdef".repeat(4);
    String rendered =
        Kustomization.renderOverlay(
            "resources: [CONFIG/with-gateway]\ncomponents: [images]\n",
            list ->
                list.replace(
                        "name: fairlead.local/dataplane\n    newTag: dev",
                        "name: fairlead.local/dataplane\n    newName: example.test/dataplane\n    digest: "
                            + digest)
                    .replace(
                        "name: fairlead.local/operator\n    newTag: dev",
                        "name: fairlead.local/operator\n    newName: example.test/operator\n    newTag: '1.2'")
                    .replace(
                        "name: fairlead.local/envoy\n    newTag: dev",
                        "name: fairlead.local/envoy\n    newName: example.test/envoy\n    newTag: '3'"));
    assertThat(rendered).doesNotContain("fairlead.local");
    Container operator = container(deployment(admin, rendered));
    assertThat(operator.getImage()).isEqualTo("example.test/operator:1.2");
    assertThat(operator.getEnv().stream().map(EnvVar::getValue).filter(Objects::nonNull))
        .containsExactly("example.test/dataplane@" + digest);
  }

  @Test
  void theGatewayOfTheSampleFindsItsPickerAndItsServers(KubernetesClient admin) {
    String envoy = Kustomization.render("envoy");
    assertThat(Kustomization.objects(admin, envoy))
        .anyMatch(
            object ->
                object.getKind().equals("Service")
                    && object.getMetadata().getName().equals("sample-model-servers")
                    && object.getMetadata().getNamespace().equals("default"));
    assertThat(envoy)
        .contains("address: sample-model-servers.default.svc")
        .contains("address: sample-epp.default.svc");
  }

  private static Deployment deployment(KubernetesClient client, String rendered) {
    return Kustomization.objects(client, rendered).stream()
        .filter(Deployment.class::isInstance)
        .map(Deployment.class::cast)
        .filter(object -> object.getMetadata().getName().equals("fairlead-operator"))
        .findFirst()
        .orElseThrow();
  }

  private static Container container(Deployment deployment) {
    return deployment.getSpec().getTemplate().getSpec().getContainers().getFirst();
  }

  private static List<?> rights(KubernetesClient client, String rendered) {
    return Kustomization.objects(client, rendered).stream()
        .flatMap(
            object ->
                switch (object) {
                  case ClusterRole role -> role.getRules().stream();
                  case Role role -> role.getRules().stream();
                  default -> Stream.of();
                })
        .sorted(Comparator.comparing(Object::toString))
        .toList();
  }
}
