package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A cluster that lacks kinds of ours, on an API server of its own. */
@Makes(Reason.KIND_NOT_FOUND)
class MissingKindsIT {
  /** An informer that failed tries again at growing intervals. */
  private static final Duration SEEN = Duration.ofSeconds(90);

  private static KubeApi.Running server;
  private static Installed cluster;

  @BeforeAll
  static void startServer() {
    server = KubeApi.Running.start();
    cluster = Installed.on(server);
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Test
  void aClusterWithoutModelsIsToldHowToGetThem() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("modelless"));
    pool.createPicker("mine", "{name: pool}");
    lacks(InferenceModel.class, pool, "kubectl create -k config/upstream-crd");
  }

  @Test
  void aClusterWithoutPickersIsToldHowToGetThem() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("pickerless"));
    lacks(EndpointPicker.class, pool, "kubectl apply -k config/cluster");
  }

  private static void lacks(Class<? extends HasMetadata> kind, PoolFixture pool, String told) {
    var crd =
        cluster
            .admin()
            .resources(CustomResourceDefinition.class)
            .withName(HasMetadata.getFullResourceName(kind));
    crd.delete();
    await().atMost(SEEN).until(() -> crd.get() == null);
    pool.createPool();
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      Map<String, String> lacking =
          Map.of(
              "Accepted", "Unknown/Pending",
              "Programmed", "False/KindNotFound",
              "Ready", "False/KindNotFound");
      await()
          .atMost(SEEN)
          .untilAsserted(
              () -> assertThat(pool.poolConditions()).containsExactlyInAnyOrderEntriesOf(lacking));
      assertThat(pool.poolMessage("Ready"))
          .contains(
              "no %s of %s".formatted(HasMetadata.getKind(kind), HasMetadata.getApiVersion(kind)),
              told);
      int seen = operator.reconciled("InferencePool/pool");
      operator.awaitReconciled("InferencePool/pool", seen + 1);
      assertThat(pool.poolConditions()).containsExactlyInAnyOrderEntriesOf(lacking);
      assertThat(pool.get(Deployment.class, PoolFixture.PICKER)).isNull();

      Crds.apply(cluster.admin());
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.poolConditions())
                      .containsEntry("Ready", "False/RolloutInProgress"));
    }
  }
}
