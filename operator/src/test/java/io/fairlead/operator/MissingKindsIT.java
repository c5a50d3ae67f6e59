package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.InferencePoolStatus;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
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

  @Test
  void aClusterWithoutPoolsOfV1IsToldHowToGetThemWhereItHasTheOlder() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("settledless"));
    var crd =
        cluster
            .admin()
            .resources(CustomResourceDefinition.class)
            .withName(HasMetadata.getFullResourceName(InferencePool.class));
    crd.delete();
    await().atMost(SEEN).until(() -> crd.get() == null);
    Crds.oldPools(cluster.admin());
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      await()
          .atMost(SEEN)
          .ignoreExceptions()
          .until(
              () -> {
                if (pool.all(OldInferencePool.class).isEmpty()) {
                  pool.create(
                      """
                      apiVersion: inference.networking.x-k8s.io/v1alpha2
                      kind: InferencePool
                      metadata: {name: pool}
                      spec: {selector: {app: vllm}, targetPortNumber: 8000, extensionRef: {name: picker-service}}
                      """);
                }
                return true;
              });
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(oldReady(pool))
                      .startsWith("False/KindNotFound")
                      .contains("upstream-crd"));
      Crds.apply(cluster.admin());
      await()
          .atMost(SEEN)
          .untilAsserted(() -> assertThat(oldReady(pool)).startsWith("False/RolloutInProgress"));
    } finally {
      Crds.apply(cluster.admin());
    }
  }

  /** As where somebody removes another product that had brought the kind. */
  @Test
  void whatNamesAPoolSaysThatTheKindOfPoolsIsGone() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("poolless"));
    var crd =
        cluster
            .admin()
            .resources(CustomResourceDefinition.class)
            .withName(HasMetadata.getFullResourceName(InferencePool.class));
    pool.createPicker("mine", "{name: pool}");
    pool.createModel("chat", "chat", 90);
    pool.createPool();
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitModel("chat", "Accepted", "True/Accepted");
      crd.delete();
      await().atMost(SEEN).until(() -> crd.get() == null);
      await()
          .atMost(SEEN)
          .untilAsserted(
              () -> {
                assertThat(pool.pickerConditions("mine"))
                    .containsEntry("Ready", "False/KindNotFound");
                assertThat(pool.modelConditions("chat"))
                    .containsEntry("Ready", "False/KindNotFound");
              });
      assertThat(pool.pickerMessage("mine", "Ready"))
          .contains("no InferencePool of", "kubectl create -k config/upstream-crd")
          .as("no chart has it")
          .doesNotContain("chart");

      Crds.apply(cluster.admin());
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.modelConditions("chat"))
                      .containsEntry("Ready", "False/PoolNotFound"));
      pool.createPool();
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.modelConditions("chat"))
                      .containsEntry("Accepted", "True/Accepted"));
    } finally {
      Crds.apply(cluster.admin());
    }
  }

  private static String oldReady(PoolFixture pool) {
    InferencePoolStatus status = pool.need(OldInferencePool.class, PoolFixture.POOL).getStatus();
    return status == null
        ? ""
        : status.parents().stream()
            .flatMap(parent -> parent.conditions().stream())
            .filter(condition -> condition.getType().equals("Ready"))
            .map(ready -> ready.getStatus() + "/" + ready.getReason() + " " + ready.getMessage())
            .collect(Collectors.joining());
  }

  @Test
  void aPickerThatGoesWithItsKindKeepsWhatItAskedFor() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("kindless"));
    var pickers = cluster.admin().resources(EndpointPicker.class).inNamespace(pool.namespace());
    var crd =
        cluster
            .admin()
            .resources(CustomResourceDefinition.class)
            .withName(HasMetadata.getFullResourceName(EndpointPicker.class));
    CustomResourceDefinition kind = new CustomResourceDefinition();
    kind.setMetadata(
        new ObjectMetaBuilder().withName(crd.require().getMetadata().getName()).build());
    kind.setSpec(crd.require().getSpec());
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("Ready", "False/RolloutInProgress");
      Deployment before = pool.need(Deployment.class, PoolFixture.PICKER);
      assertThat(image(before)).isEqualTo("example.test/own:2");
      // Held by a finalizer, the kind is seen while it is on its way out.
      finalizers(pickers.withName("mine"), "[\"example.test/held\"]");
      crd.delete();
      await()
          .atMost(SEEN)
          .untilAsserted(
              () -> assertThat(pool.poolConditions()).containsEntry("Ready", "False/KindNotFound"));
      assertThat(pool.poolMessage("Ready")).contains("is being deleted");

      finalizers(pickers.withName("mine"), "[]");
      await().atMost(SEEN).until(() -> crd.get() == null);
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.poolMessage("Ready"))
                      .contains("has no EndpointPicker", "kubectl apply -k config/cluster"));
      assertThat(pool.get(Deployment.class, PoolFixture.PICKER)).isEqualTo(before);

      // It is waited for ten seconds from when its kind is back: no other kind is waited for here.
      Crds.awaitServed(cluster.admin(), cluster.admin().resource(kind).create());
      pool.createPicker("mine", "{name: pool}");
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.poolConditions())
                      .containsEntry("Ready", "False/RolloutInProgress"));
      assertThat(pool.get(Deployment.class, PoolFixture.PICKER)).isEqualTo(before);

      // Alone, it goes as somebody wished.
      pool.delete(EndpointPicker.class, "mine");
      await()
          .atMost(SEEN)
          .until(
              () ->
                  image(pool.need(Deployment.class, PoolFixture.PICKER))
                      .equals(OperatorUnderTest.IMAGE));
    }
  }

  @Test
  void aKindThatIsDeletedWhileItIsWatchedIsTold() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("deleted"));
    var crd =
        cluster
            .admin()
            .resources(CustomResourceDefinition.class)
            .withName(HasMetadata.getFullResourceName(InferenceModel.class));
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.createModel("sum", "sum", 10);
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("Ready", "False/RolloutInProgress");
      await().untilAsserted(() -> assertThat(pool.config()).contains("chat", "sum"));
      await().atMost(SEEN).untilAsserted(() -> assertThat(operator.unwatched()).isZero());
      pool.delete(InferenceModel.class, "sum");
      await().untilAsserted(() -> assertThat(pool.config()).doesNotContain("sum"));
      crd.delete();
      await().atMost(SEEN).until(() -> crd.get() == null);
      pool.awaitPool("Programmed", "False/KindNotFound");
      assertThat(pool.poolMessage("Programmed")).contains("keeps the models", "chat");
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.poolConditions())
                      .containsEntry("Programmed", "False/KindNotFound"));
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.poolMessage("Programmed"))
                      .contains("no InferenceModel of", "keeps the models", "chat"));
      assertThat(pool.config()).as("as it was served").contains("chat");
      pool.awaitPool("ModelsAccepted", "True/AllAccepted");
      await().atMost(SEEN).untilAsserted(() -> assertThat(operator.unwatched()).isPositive());
      Crds.apply(cluster.admin());
      await()
          .atMost(SEEN)
          .untilAsserted(
              () ->
                  assertThat(pool.poolConditions())
                      .containsEntry("Ready", "False/RolloutInProgress"));
      await().atMost(SEEN).untilAsserted(() -> assertThat(operator.unwatched()).isZero());
      // What went with its kind is waited for, ten seconds at most.
      await().atMost(SEEN).untilAsserted(() -> assertThat(pool.config()).doesNotContain("chat"));
    } finally {
      Crds.apply(cluster.admin());
    }
  }

  /** Whatever version it has: the operator writes its status meanwhile. */
  private static void finalizers(Resource<EndpointPicker> picker, String list) {
    picker.patch(
        PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"finalizers\":" + list + "}}");
  }

  private static String image(Deployment picker) {
    return picker.getSpec().getTemplate().getSpec().getContainers().getFirst().getImage();
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
      if (kind == InferenceModel.class) {
        pool.awaitPicker("mine", "Ready", "False/KindNotFound");
      }
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
