package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The operator, with its own permissions only, on a real API server. */
@ExtendWith(KubeApi.class)
class OperatorIT {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private static Installed cluster;

  private PoolFixture pool;
  private KubernetesClient client;
  private Operator operator;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void start() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("it"));
    client = cluster.operator();
    startOperator(true);
  }

  @AfterEach
  void stop() {
    operator.stop();
    client.close();
  }

  private void startOperator(boolean adopt) {
    operator =
        Controllers.on(
            client,
            new Settings(adopt, "example.test/epp:1"),
            Set.of(pool.namespace()),
            Metrics.NOOP,
            InstantSource.system());
    operator.start();
  }

  private void awaitPool(String type, String expected) {
    await()
        .atMost(Duration.ofSeconds(15))
        .untilAsserted(() -> assertThat(pool.poolConditions()).containsEntry(type, expected));
  }

  private void awaitModel(String model, String type, String expected) {
    await()
        .atMost(Duration.ofSeconds(15))
        .untilAsserted(() -> assertThat(pool.modelConditions(model)).containsEntry(type, expected));
  }

  private void becomeReady() {
    awaitPool("Ready", "False/RolloutInProgress");
    pool.becomeAvailable();
    pool.reportCurrent();
    awaitPool("Ready", "True/Ready");
  }

  @Test
  void servesAPoolAndTellsSo() {
    pool.createModel("chat", "chat", 90);
    pool.createModel("sum", "sum", 50);
    pool.createPool();
    becomeReady();

    assertThat(pool.poolConditions())
        .isEqualTo(
            Map.of(
                "Accepted", "True/Accepted",
                "ResolvedRefs", "True/ResolvedRefs",
                "Programmed", "True/Programmed",
                "EndpointsAvailable", "True/EndpointsReady",
                "ModelsAccepted", "True/AllAccepted",
                "Ready", "True/Ready"));
    awaitModel("chat", "Ready", "True/Ready");
    awaitModel("sum", "Ready", "True/Ready");
    assertThat(pool.modelConditions("chat"))
        .isEqualTo(
            Map.of(
                "Accepted", "True/Accepted",
                "ResolvedRefs", "True/ResolvedRefs",
                "Programmed", "True/Programmed",
                "Ready", "True/Ready"));
    assertThat(
            Stream.of(
                    pool.need(ServiceAccount.class, PICKER),
                    pool.need(RoleBinding.class, PICKER),
                    pool.need(ConfigMap.class, PICKER),
                    pool.need(Service.class, "picker-service"),
                    pool.need(Deployment.class, PICKER))
                .map(child -> Long.parseLong(child.getMetadata().getResourceVersion())))
        .as("written in the order in which one needs the other, and never again")
        .isSorted();
    assertThat(pool.config()).contains("chat", "sum", "vllm", pool.configHash());
  }

  @Test
  void aWeightIsChangedHot() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    becomeReady();
    String before = pool.configHash();
    long generation = pool.need(Deployment.class, PICKER).getMetadata().getGeneration();

    InferenceModel model = pool.need(InferenceModel.class, "chat");
    cluster
        .admin()
        .resource(model)
        .patch(
            MERGE,
            "{\"spec\":{\"targetModels\":[{\"name\":\"a\",\"weight\":1},{\"name\":\"b\",\"weight\":1}]}}");

    await().atMost(Duration.ofSeconds(2)).until(() -> !pool.configHash().equals(before));
    awaitPool("Programmed", "Unknown/Pending");
    pool.reportCurrent();
    awaitPool("Programmed", "True/Programmed");
    assertThat(pool.need(Deployment.class, PICKER).getMetadata().getGeneration())
        .isEqualTo(generation);
  }

  @Test
  void aRefusedConfigIsTold() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    becomeReady();
    pool.report(
        new PickerReport(
            "x/pool",
            "old",
            1,
            new PickerReport.Refused(pool.configHash(), "models[0].name: too odd"),
            new PickerReport.Endpoints(3, 0, "NoReadyPods")));
    awaitPool("Programmed", "False/ConfigRejected");
    awaitPool("EndpointsAvailable", "False/NoReadyPods");
    awaitPool("Ready", "False/ConfigRejected");
    awaitModel("chat", "Ready", "False/ConfigRejected");
  }

  @Test
  void theNextModelIsPromotedWhenTheWinnerLeaves() {
    pool.createPool();
    pool.createModel("a", "chat", 90);
    pool.createModel("b", "chat", 50);
    awaitModel("a", "Accepted", "True/Accepted");
    awaitModel("b", "Accepted", "False/ModelNameInUse");
    awaitModel("b", "Stalled", "True/ModelNameInUse");
    awaitPool("ModelsAccepted", "False/ModelConflicts");

    pool.delete(InferenceModel.class, "a");
    awaitModel("b", "Accepted", "True/Accepted");
    awaitPool("ModelsAccepted", "True/AllAccepted");
  }

  @Test
  void aModelThatMovesLeavesItsOldPool() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    awaitModel("chat", "ResolvedRefs", "True/ResolvedRefs");
    await().until(() -> pool.config().contains("chat"));
    cluster
        .admin()
        .resource(pool.need(InferenceModel.class, "chat"))
        .patch(MERGE, "{\"spec\":{\"poolRef\":{\"name\":\"elsewhere\"}}}");
    awaitModel("chat", "ResolvedRefs", "False/PoolNotFound");
    await().until(() -> !pool.config().contains("chat"));
  }

  @Test
  void aServiceOfOthersStaysUntouched() {
    cluster
        .admin()
        .resource(
            new ServiceBuilder()
                .withNewMetadata()
                .withName("picker-service")
                .withNamespace(pool.namespace())
                .endMetadata()
                .withNewSpec()
                .addNewPort()
                .withPort(80)
                .endPort()
                .endSpec()
                .build())
        .create();
    String version = pool.need(Service.class, "picker-service").getMetadata().getResourceVersion();
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    awaitModel("chat", "ResolvedRefs", "False/PoolNotManaged");
    assertThat(pool.poolConditions()).isEmpty();

    createPicker("mine");
    awaitPool("ResolvedRefs", "False/InvalidExtensionRef");
    awaitPool("Ready", "False/InvalidExtensionRef");
    assertThat(pool.need(Service.class, "picker-service").getMetadata().getResourceVersion())
        .isEqualTo(version);

    pool.delete(Service.class, "picker-service");
    awaitPool("ResolvedRefs", "True/ResolvedRefs");
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
  }

  private void createPicker(String name) {
    pool.create(
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: %s}
        spec: {poolRef: {name: pool}, replicas: 2, image: "example.test/own:2"}
        """
            .formatted(name));
  }

  private Map<String, String> pickerConditions(String name) {
    EndpointPicker picker = pool.need(EndpointPicker.class, name);
    return picker.getStatus() == null
        ? Map.of()
        : PoolFixture.brief(picker.getStatus().conditions());
  }

  @Test
  void aPickerCarriesSettingsAndTheSecondIsRefused() {
    createPicker("a");
    createPicker("b");
    pool.createPool();
    await()
        .untilAsserted(
            () ->
                assertThat(pickerConditions("b"))
                    .containsEntry("Accepted", "False/PickerConflict"));
    assertThat(pickerConditions("a")).containsEntry("Accepted", "True/Accepted");
    Deployment deployment = pool.need(Deployment.class, PICKER);
    assertThat(deployment.getSpec().getReplicas()).isEqualTo(2);
    assertThat(deployment.getSpec().getTemplate().getSpec().getContainers().getFirst().getImage())
        .isEqualTo("example.test/own:2");
  }

  @Test
  void driftIsRepairedAndForeignFieldsAreLeft() {
    pool.createPool();
    becomeReady();
    Deployment drifted =
        new DeploymentBuilder(pool.need(Deployment.class, PICKER))
            .editMetadata()
            .addToAnnotations("someone", "else")
            .endMetadata()
            .editSpec()
            .editTemplate()
            .editSpec()
            .editFirstContainer()
            .withImage("evil.test/x:1")
            .endContainer()
            .endSpec()
            .endTemplate()
            .endSpec()
            .build();
    cluster.admin().resource(drifted).update();
    await()
        .atMost(Duration.ofSeconds(5))
        .until(
            () ->
                pool.need(Deployment.class, PICKER)
                    .getSpec()
                    .getTemplate()
                    .getSpec()
                    .getContainers()
                    .getFirst()
                    .getImage()
                    .equals("example.test/epp:1"));
    assertThat(pool.need(Deployment.class, PICKER).getMetadata().getAnnotations())
        .containsEntry("someone", "else");

    pool.delete(Service.class, "picker-service");
    await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> pool.get(Service.class, "picker-service") != null);
  }

  @Test
  void aRestartWritesNothing() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    createPicker("a");
    awaitPool("Accepted", "True/Accepted");
    await()
        .until(
            () -> Objects.equals(pool.need(Deployment.class, PICKER).getSpec().getReplicas(), 2));
    awaitModel("chat", "Accepted", "True/Accepted");
    // The picker's status is the last thing that a reconcile writes.
    await().until(() -> "True/AllAccepted".equals(pickerConditions("a").get("ModelsAccepted")));
    operator.stop();
    Map<String, String> before = pool.versions();

    startOperator(true);
    // Proof that the restarted operator has been through the pool: it acts on a new model.
    pool.createModel("z", "z", 1);
    awaitModel("z", "Accepted", "True/Accepted");
    assertThat(pool.versions()).containsAllEntriesOf(withoutConfigMap(before));
  }

  private static Map<String, String> withoutConfigMap(Map<String, String> versions) {
    return versions.entrySet().stream()
        .filter(e -> !e.getKey().startsWith("ConfigMap/pool"))
        .filter(e -> !e.getKey().startsWith("EndpointPicker/"))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  @Test
  void entriesOfOthersAreKept() {
    pool.createPool();
    awaitPool("Accepted", "True/Accepted");
    String other =
        """
        {"controllerName":"example.test/gateway","parentRef":{"group":"gateway.networking.k8s.io",\
        "kind":"Gateway","name":"gw"},"conditions":[{"type":"Accepted","status":"True",\
        "reason":"Accepted","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}""";
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .subresource("status")
        .patch(MERGE, "{\"status\":{\"parents\":[" + other + "]}}");
    awaitPool("Accepted", "True/Accepted");
    becomeReady();
    assertThat(Objects.requireNonNull(pool.need(InferencePool.class, POOL).getStatus()).parents())
        .hasSize(2)
        .anyMatch(p -> "example.test/gateway".equals(p.controllerName()));
  }

  @Test
  void withdrawsWhenNobodyWantsItAnyMore() {
    operator.stop();
    startOperator(false);
    createPicker("a");
    pool.createPool();
    awaitPool("Accepted", "True/Accepted");
    pool.delete(EndpointPicker.class, "a");
    await().until(() -> pool.get(Deployment.class, PICKER) == null);
    await().until(() -> pool.poolConditions().isEmpty());
    assertThat(pool.get(Service.class, "picker-service")).isNull();
  }

  @Test
  void childrenOfAPoolOfTheSameNameBeforeAreNotAdopted() {
    pool.createPool();
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    String old = pool.need(Deployment.class, PICKER).getMetadata().getUid();
    pool.delete(InferencePool.class, POOL);
    pool.createPool();
    awaitPool("Programmed", "Unknown/Pending");
    // The part of the garbage collector.
    pool.delete(Deployment.class, PICKER);
    pool.delete(Service.class, "picker-service");
    pool.delete(ConfigMap.class, PICKER);
    pool.delete(RoleBinding.class, PICKER);
    pool.delete(ServiceAccount.class, PICKER);
    await()
        .until(
            () -> {
              Deployment now = pool.get(Deployment.class, PICKER);
              return now != null && !now.getMetadata().getUid().equals(old);
            });
  }

  @Test
  void modelsSurviveHavingNoPoolOrNoSpec() {
    pool.createModel("lost", "lost", 1);
    pool.create(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: empty}
        """);
    awaitModel("lost", "ResolvedRefs", "False/PoolNotFound");
    awaitModel("empty", "Accepted", "False/InvalidSpec");
    pool.createPool();
    awaitModel("lost", "Accepted", "True/Accepted");
    pool.delete(InferencePool.class, POOL);
    awaitModel("lost", "ResolvedRefs", "False/PoolNotFound");
  }
}
