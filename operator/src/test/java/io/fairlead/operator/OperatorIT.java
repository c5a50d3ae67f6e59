package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The operator, with its own permissions only, on a real API server. */
@Makes({
  Reason.ACCEPTED,
  Reason.RESOLVED_REFS,
  Reason.AVAILABLE,
  Reason.MODEL_NAME_IN_USE,
  Reason.POOL_NOT_FOUND,
  Reason.POOL_NOT_MANAGED,
  Reason.INVALID_EXTENSION_REF,
  Reason.PICKER_CONFLICT,
  Reason.PROGRESSING
})
class OperatorIT extends OperatorWithPool {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  OperatorIT() {
    super("it", true);
  }

  @Test
  void servesAPoolAndTellsSo() {
    operator.close();
    pool.createModel("chat", "chat", 90);
    pool.createModel("sum", "sum", 50);
    pool.createPool();
    // One that runs may see a model after its pool, and write the config once more.
    operator = new OperatorUnderTest(cluster, pool, true);
    pool.becomeReady();

    assertThat(pool.poolConditions())
        .isEqualTo(
            Map.of(
                "Accepted", "True/Accepted",
                "ResolvedRefs", "True/ResolvedRefs",
                "Programmed", "True/Programmed",
                "EndpointsAvailable", "True/EndpointsReady",
                "ModelsAccepted", "True/AllAccepted",
                "Saturated", "False/RoomForRequests",
                "Ready", "True/Ready"));
    pool.awaitModel("chat", "Ready", "True/Ready");
    pool.awaitModel("sum", "Ready", "True/Ready");
    assertThat(pool.modelConditions("chat"))
        .isEqualTo(
            Map.of(
                "Accepted", "True/Accepted",
                "ResolvedRefs", "True/ResolvedRefs",
                "Programmed", "True/Programmed",
                "Saturated", "False/RoomForRequests",
                "TargetsAvailable", "Unknown/NotReported",
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
    assertThat(pool.config()).contains("chat", "sum", "vllm", pool.configHash().hex());
  }

  @Test
  void aWeightIsChangedHot() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.becomeReady();
    long generation = pool.need(Deployment.class, PICKER).getMetadata().getGeneration();

    weigh(1);
    // Of one that only looked now and then each but the first would take as long as its pause.
    assertThat(Stream.of(2, 3, 4).map(this::weigh).min(Comparator.naturalOrder()).orElseThrow())
        .as("the soonest, on a machine that may stand still for a while")
        .isLessThanOrEqualTo(Duration.ofSeconds(2));
    pool.awaitPool("Programmed", "Unknown/Pending");
    pool.reportCurrent();
    pool.awaitPool("Programmed", "True/Programmed");
    assertThat(pool.need(Deployment.class, PICKER).getMetadata().getGeneration())
        .isEqualTo(generation);
  }

  /** How long it took until the config had it, by the API server's clock. */
  private Duration weigh(int weight) {
    ConfigHash before = pool.configHash();
    InferenceModel edited =
        cluster
            .admin()
            .resource(pool.need(InferenceModel.class, "chat"))
            .patch(
                MERGE,
                "{\"spec\":{\"targetModels\":[{\"name\":\"a\",\"weight\":%d},{\"name\":\"b\",\"weight\":9}]}}"
                    .formatted(weight));
    await().until(() -> !pool.configHash().equals(before));
    return Duration.between(written(edited), written(pool.need(ConfigMap.class, PICKER)));
  }

  /** When anybody wrote it last, to the second. */
  private static Instant written(HasMetadata object) {
    return object.getMetadata().getManagedFields().stream()
        .map(fields -> Instant.parse(fields.getTime()))
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  /** Before any pod is behind a Service its EndpointSlice is there, and has null for endpoints. */
  @Test
  void aServiceThatIsRenamedStaysUntilTheNewOneLeadsSomewhere() {
    pool.createPool();
    pool.becomeReady();
    pool.create(
        """
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: renamed-1, labels: {kubernetes.io/service-name: renamed}}
        addressType: IPv4
        endpoints: []
        """);
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .patch(MERGE, "{\"spec\":{\"endpointPickerRef\":{\"name\":\"renamed\"}}}");
    await().until(() -> pool.get(Service.class, "renamed") != null);
    await()
        .during(Duration.ofSeconds(2))
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> assertThat(pool.poolConditions()).containsEntry("Ready", "True/Ready"));
    assertThat(pool.get(Service.class, "picker-service")).isNotNull();

    cluster
        .admin()
        .resource(pool.need(EndpointSlice.class, "renamed-1"))
        .patch(MERGE, "{\"endpoints\":[{\"addresses\":[\"10.1.2.3\"]}]}");
    await().until(() -> pool.get(Service.class, "picker-service") == null);
  }

  @Test
  void aLostPickerIsTold() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.becomeReady();

    pool.losePod();
    awaitUnavailable();
    pool.becomeAvailable();
    pool.reportCurrent();
    pool.awaitPool("Ready", "True/Ready");
    pool.awaitModel("chat", "Ready", "True/Ready");

    pool.becomeUnavailable();
    awaitUnavailable();
  }

  /** The Deployment's controller may count it later, and one object must not say both. */
  @Test
  void aPickerIsAvailableAsSoonAsItsPodIsReady() {
    pool.createPool();
    pool.createPicker("mine", "{name: pool}");
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.awaitPicker("mine", "Available", "True/Available");

    pool.becomeUnavailable();
    pool.awaitPicker("mine", "Available", "False/NoReadyReplicas");
    pool.makePodReady();
    pool.awaitPicker("mine", "Ready", "True/Ready");
    assertThat(pool.pickerConditions("mine")).containsEntry("Available", "True/Available");
    assertThat(pool.need(EndpointPicker.class, "mine").getStatus().readyReplicas()).isOne();
  }

  private void awaitUnavailable() {
    pool.awaitPool("Programmed", "False/EPPUnavailable");
    pool.awaitPool("Ready", "False/NoReadyReplicas");
    pool.awaitModel("chat", "Programmed", "False/EPPUnavailable");
    pool.awaitModel("chat", "Ready", "False/EPPUnavailable");
  }

  @Test
  void theNextModelIsPromotedWhenTheWinnerLeaves() {
    pool.createPool();
    pool.createModel("a", "chat", 90);
    pool.createModel("b", "chat", 50);
    pool.awaitModel("a", "Accepted", "True/Accepted");
    pool.awaitModel("b", "Accepted", "False/ModelNameInUse");
    pool.awaitModel("b", "Stalled", "True/ModelNameInUse");
    pool.awaitPool("ModelsAccepted", "False/ModelConflicts");

    pool.delete(InferenceModel.class, "a");
    pool.awaitModel("b", "Accepted", "True/Accepted");
    pool.awaitPool("ModelsAccepted", "True/AllAccepted");
  }

  @Test
  void aModelThatMovesLeavesItsOldPool() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitModel("chat", "ResolvedRefs", "True/ResolvedRefs");
    await().until(() -> pool.config().contains("chat"));
    cluster
        .admin()
        .resource(pool.need(InferenceModel.class, "chat"))
        .patch(MERGE, "{\"spec\":{\"poolRef\":{\"name\":\"elsewhere\"}}}");
    pool.awaitModel("chat", "ResolvedRefs", "False/PoolNotFound");
    await().until(() -> !pool.config().contains("chat"));
  }

  @Test
  void aServiceOfOthersStaysUntouched() {
    // One that runs may see the Service after the pool that names it.
    operator.close();
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
    operator = new OperatorUnderTest(cluster, pool, true);
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitModel("chat", "ResolvedRefs", "False/PoolNotManaged");
    assertThat(pool.poolConditions()).isEmpty();

    createPicker("mine");
    pool.awaitPool("ResolvedRefs", "False/InvalidExtensionRef");
    pool.awaitPool("Ready", "False/InvalidExtensionRef");
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    assertThat(pool.need(Service.class, "picker-service").getMetadata().getResourceVersion())
        .isEqualTo(version);

    pool.delete(Service.class, "picker-service");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    await().until(() -> pool.get(Service.class, "picker-service") != null);
  }

  @Test
  void whileThePoolsServiceIsAnothersAllElseOfItIsLookedAfter() {
    createPicker("mine");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.awaitModel("chat", "Programmed", "True/Programmed");
    pool.createServiceOfAnotherController("theirs", pool.need(InferencePool.class, "pool"));
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, "pool"))
        .patch(MERGE, "{\"spec\":{\"endpointPickerRef\":{\"name\":\"theirs\"}}}");
    pool.awaitPool("ResolvedRefs", "False/InvalidExtensionRef");
    pool.awaitPool("Ready", "False/InvalidExtensionRef");
    assertThat(pool.poolMessage("Ready")).contains("Service theirs is not ours", "delete it");

    pool.createModel("sum", "sum", 10);
    await().untilAsserted(() -> assertThat(pool.config()).contains("sum"));
    pool.awaitModel("sum", "Accepted", "True/Accepted");
    pool.delete(ConfigMap.class, PICKER);
    await().until(() -> pool.get(ConfigMap.class, PICKER) != null);
    assertThat(pool.config()).contains("chat", "sum");
    assertThat(pool.get(Service.class, "picker-service")).as("that gateways ask").isNotNull();

    pool.delete(Service.class, "theirs");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
  }

  private void createPicker(String name) {
    pool.createPicker(name, "{name: pool}");
  }

  @Test
  void aPickerCarriesSettingsAndTheSecondIsRefused() {
    createPicker("a");
    createPicker("b");
    pool.createPool();
    await()
        .untilAsserted(
            () ->
                assertThat(pool.pickerConditions("b"))
                    .containsEntry("Accepted", "False/PickerConflict"));
    pool.awaitPicker("a", "Accepted", "True/Accepted");
    pool.awaitPickerCarriedOut();
    Deployment deployment = pool.need(Deployment.class, PICKER);
    assertThat(deployment.getSpec().getReplicas()).isEqualTo(2);
    assertThat(deployment.getSpec().getTemplate().getSpec().getContainers().getFirst().getImage())
        .isEqualTo("example.test/own:2");
  }

  @Test
  void driftIsRepairedAndForeignFieldsAreLeft() {
    pool.createPool();
    pool.becomeReady();
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
        .atMost(Duration.ofSeconds(30))
        .until(() -> pool.pickerImage().equals(OperatorUnderTest.IMAGE));
    assertThat(pool.need(Deployment.class, PICKER).getMetadata().getAnnotations())
        .containsEntry("someone", "else");

    pool.delete(Service.class, "picker-service");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> pool.get(Service.class, "picker-service") != null);
  }

  @Test
  void aServicePortEditedByHandIsPutRightAndSoIsWhatComesAfterIt() {
    pool.createPool();
    pool.becomeReady();
    cluster
        .admin()
        .resource(pool.need(Service.class, "picker-service"))
        .patch(
            MERGE,
            "{\"spec\":{\"ports\":[{\"name\":\"grpc-ext-proc\",\"port\":9999,\"targetPort\":9002}]}}");
    pool.delete(Deployment.class, PICKER);
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              assertThat(pool.need(Service.class, "picker-service").getSpec().getPorts())
                  .singleElement()
                  .satisfies(port -> assertThat(port.getPort()).isEqualTo(9002));
              assertThat(pool.get(Deployment.class, PICKER)).isNotNull();
            });
    await()
        .untilAsserted(
            () ->
                assertThat(pool.poolConditions().get("ResolvedRefs"))
                    .isEqualTo("True/ResolvedRefs"));
  }

  @Test
  void allThatIsInTheWayIsToldAtOnceAndKeepsNothingElseBack() {
    pool.create("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: pool-epp}\n");
    pool.create("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: pool-epp}\n");
    pool.createPool();
    pool.awaitPool("Ready", "False/EPPUnavailable");
    for (String type : List.of("Programmed", "Ready")) {
      assertThat(pool.poolMessage(type))
          .contains("ServiceAccount " + pool.namespace() + "/pool-epp is not ours", "delete it")
          .contains("ConfigMap " + pool.namespace() + "/pool-epp is not ours")
          .doesNotContain("wait for it");
    }
    assertThat(pool.get(Service.class, "picker-service")).as("not kept back").isNotNull();
    assertThat(pool.poolConditions()).containsEntry("ResolvedRefs", "True/ResolvedRefs");

    pool.delete(ServiceAccount.class, PICKER);
    pool.delete(ConfigMap.class, PICKER);
    // Objects of others are not watched: without this it is tried again only after a while.
    pool.touchAll(1);
    pool.awaitPool("Ready", "False/RolloutInProgress");
  }

  @Test
  void theSecondOfTwoPoolsThatNameOneServiceIsToldSo() {
    pool.createPool();
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    await().until(() -> pool.get(Service.class, "picker-service") != null);
    pool.createPool("second", "picker-service");
    pool.createModel("chat", "chat", 90, "second");
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(PoolFixture.brief(pool.entry("second")))
                    .containsEntry("ResolvedRefs", "False/InvalidExtensionRef")
                    .containsEntry("Ready", "False/InvalidExtensionRef"));
    assertThat(pool.entry("second"))
        .anySatisfy(
            condition ->
                assertThat(condition.getMessage())
                    .contains("picker-service", "InferencePool pool", "name another"));
    assertThat(pool.poolConditions()).containsEntry("ResolvedRefs", "True/ResolvedRefs");
  }

  @Test
  void aPickerScaledToNothingIsToldWithTheNextStep() {
    createPicker("a");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitPool("Ready", "False/RolloutInProgress");
    cluster
        .admin()
        .resource(pool.need(EndpointPicker.class, "a"))
        .patch(MERGE, "{\"spec\":{\"replicas\":0}}");
    pool.awaitPool("Ready", "False/NoReadyReplicas");
    assertThat(pool.poolMessage("Ready")).contains("scaled to 0", "spec.replicas");
    pool.awaitModel("chat", "Ready", "False/EPPUnavailable");
  }

  @Test
  void aModelIsNotServedWhereThereIsNoModelServer() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    pool.report(
        new PickerReport(
            "x/pool",
            pool.configHash(),
            1,
            null,
            new PickerReport.Endpoints(0, 0, "NoMatchingPods")));
    pool.awaitModel("chat", "Ready", "False/NoMatchingPods");
    pool.awaitPool("Ready", "True/Ready");
    pool.reportCurrent();
    pool.awaitModel("chat", "Ready", "True/Ready");
  }

  @Test
  void aRestartWritesNothing() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    createPicker("a");
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    // The picker's status is the last thing that a reconcile writes.
    await().until(() -> "True/Ready".equals(pool.pickerConditions("a").get("Ready")));
    pool.awaitEventsSent();
    operator.close();

    operator = new OperatorUnderTest(cluster, pool, true);
    operator.awaitReconciled("InferencePool/pool", 1);
    assertThat(operator.writes()).isEmpty();
  }

  @Test
  void whatItSeesAgainItDoesNotWriteAgain() {
    pool.createPool();
    pool.createModel("a", "chat", 90);
    pool.createModel("b", "chat", 90);
    pool.createModel("lost", "lost", 90, "elsewhere");
    createPicker("a");
    pool.awaitPickerCarriedOut();
    pool.becomeReady();
    await().until(() -> "True/Ready".equals(pool.pickerConditions("a").get("Ready")));
    pool.awaitModel("a", "Ready", "True/Ready");
    pool.awaitModel("b", "Ready", "False/ModelNameInUse");
    pool.awaitModel("lost", "ResolvedRefs", "False/PoolNotFound");
    pool.awaitEventsSent();
    int settled = operator.writes().size();
    for (int round = 0; round < 5; round++) {
      int times = operator.reconciled("InferencePool/pool");
      pool.touchAll(round);
      operator.awaitReconciled("InferencePool/pool", times + 1);
    }
    assertThat(operator.writes()).hasSize(settled);
  }

  @Test
  void entriesOfOthersAreKept() {
    pool.createPool();
    pool.awaitPool("Accepted", "True/Accepted");
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
    pool.awaitPool("Accepted", "True/Accepted");
    pool.becomeReady();
    assertThat(Objects.requireNonNull(pool.need(InferencePool.class, POOL).getStatus()).parents())
        .hasSize(2)
        .anyMatch(p -> "example.test/gateway".equals(p.controllerName()));
  }

  @Test
  void withdrawsWhenNobodyWantsItAnyMore() {
    operator.close();
    operator = new OperatorUnderTest(cluster, pool, false);
    createPicker("a");
    pool.createPool();
    pool.awaitPool("Accepted", "True/Accepted");
    pool.delete(EndpointPicker.class, "a");
    await().until(() -> pool.get(Deployment.class, PICKER) == null);
    await().until(() -> pool.poolConditions().isEmpty());
    await().until(() -> pool.get(Service.class, "picker-service") == null);
  }

  @Test
  void childrenOfAPoolOfTheSameNameBeforeAreNotAdopted() {
    pool.createPool();
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    String old = pool.need(Deployment.class, PICKER).getMetadata().getUid();
    pool.delete(InferencePool.class, POOL);
    pool.createPool();
    pool.awaitPool("Programmed", "Unknown/Pending");
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
  void aPoolThatIsMadeAnewWhileTheOneBeforeIsReconciledIsServed() {
    operator.close();
    AtomicBoolean first = new AtomicBoolean(true);
    CompletableFuture<InferencePool> anew = new CompletableFuture<>();
    operator =
        new OperatorUnderTest(
            cluster,
            pool,
            true,
            write -> {
              if (write.contains("/deployments/") && first.compareAndSet(true, false)) {
                pool.delete(InferencePool.class, POOL);
                pool.createPool();
                InferencePool created = pool.need(InferencePool.class, POOL);
                operator.awaitHeardOf(created);
                anew.complete(created);
              }
            });
    pool.createPool();
    await().until(anew::isDone);
    pool.awaitPool("Accepted", "True/Accepted");

    pool.createModel("chat", "chat", 90);
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    assertThat(pool.need(InferencePool.class, POOL).getMetadata().getUid())
        .isEqualTo(anew.join().getMetadata().getUid());
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
    pool.awaitModel("lost", "ResolvedRefs", "False/PoolNotFound");
    pool.awaitModel("empty", "Accepted", "False/InvalidSpec");
    pool.createPool();
    pool.awaitModel("lost", "Accepted", "True/Accepted");
    pool.delete(InferencePool.class, POOL);
    pool.awaitModel("lost", "ResolvedRefs", "False/PoolNotFound");
  }
}
