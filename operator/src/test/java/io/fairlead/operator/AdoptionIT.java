package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which pools are taken, and how they are given up again. */
@ExtendWith(KubeApi.class)
class AdoptionIT {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private static Installed cluster;

  private PoolFixture pool;
  private @Nullable OperatorUnderTest started;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void prepare() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("adopt"));
  }

  @AfterEach
  void stop() {
    if (started != null) {
      started.close();
    }
  }

  private OperatorUnderTest operator() {
    return Objects.requireNonNull(started);
  }

  private void start(Adoption adoption, Duration grace) {
    started =
        new OperatorUnderTest(
            cluster,
            pool,
            new Settings(adoption, grace, OperatorUnderTest.PICKER),
            InstantSource.system());
  }

  @Test
  void anInstallThatAppliesItsServiceAfterThePoolIsLeftAlone() {
    start(Adoption.ALL, Duration.ofMinutes(10));
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    operator().awaitReconciled("InferencePool/pool", 1);
    assertThat(pool.get(Service.class, "picker-service")).isNull();
    pool.createServiceOfAnother();
    pool.awaitModel("chat", "ResolvedRefs", "False/PoolNotManaged");
    assertThat(pool.need(Service.class, "picker-service").getMetadata().getLabels())
        .isNullOrEmpty();
    assertThat(pool.get(Deployment.class, PICKER)).isNull();
  }

  /** Whoever waits for a model must see that there is something to wait for, and what. */
  @Test
  void modelsSayThatTheirPoolIsLeftToOthersAtFirst() {
    start(Adoption.ALL, Duration.ofMinutes(10));
    pool.createModel("chat", "chat", 90);
    pool.awaitModel("chat", "Ready", "False/PoolNotFound");
    pool.createPool();
    pool.awaitModel("chat", "Ready", "Unknown/Pending");
    assertThat(pool.modelConditions("chat"))
        .containsEntry("Accepted", "Unknown/Pending")
        .containsEntry("ResolvedRefs", "Unknown/Pending")
        .containsEntry("Reconciling", "True/Progressing");
    assertThat(pool.modelMessage("chat", "Ready"))
        .startsWith("InferencePool pool of namespace " + pool.namespace())
        .endsWith("or create an EndpointPicker that names it to have it served at once");
    assertThat(pool.poolConditions()).as("it is theirs, if they take it").isEmpty();
    pool.createPicker("mine", "{name: pool}");
    pool.awaitModel("chat", "Accepted", "True/Accepted");
  }

  /** It is so whoever will serve the pool. */
  @Test
  void aModelThatIsWrongSaysSoDuringTheGrace() {
    start(Adoption.ALL, Duration.ofMinutes(10));
    pool.createPool();
    pool.createModel("first", "chat", 90);
    pool.awaitModel("first", "Ready", "Unknown/Pending");
    pool.createModel("second", "chat", 90);
    pool.awaitModel("second", "Ready", "False/ModelNameInUse");
    assertThat(pool.modelConditions("second")).containsEntry("Stalled", "True/ModelNameInUse");
    assertThat(pool.modelConditions("first")).containsEntry("Ready", "Unknown/Pending");
    assertThat(pool.poolConditions()).isEmpty();
    pool.createServiceOfAnother();
    pool.awaitModel("second", "Ready", "False/PoolNotManaged");
    pool.awaitModel("first", "Ready", "False/PoolNotManaged");
  }

  /** Each controller of InferencePools makes the pool the owner of what it makes for it. */
  @ParameterizedTest
  @EnumSource(Adoption.class)
  void whatAnotherControllerMadeForThePoolIsLeftAlone(Adoption adoption) {
    pool.createPool();
    InferencePool owner = pool.need(InferencePool.class, POOL);
    cluster
        .admin()
        .resource(owner)
        .patch(MERGE, "{\"metadata\":{\"labels\":{\"fairlead.io/adopt\":\"true\"}}}");
    Service theirs = pool.createServiceOfAnotherController("picker-service", owner);
    pool.createModel("chat", "chat", 90);
    start(adoption, Duration.ZERO);
    pool.awaitModel("chat", "ResolvedRefs", "False/PoolNotManaged");
    awaitLookedAtAgain();
    assertUntouched(theirs);
    assertThat(pool.get(Deployment.class, PICKER)).isNull();
  }

  @Test
  void ofAClaimedPoolWhatAnotherControllerMadeIsNoLeftover() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    Service theirs =
        pool.createServiceOfAnotherController(
            "pool-endpoint-picker", pool.need(InferencePool.class, POOL));
    start(Adoption.NONE, Duration.ZERO);
    pool.becomeReady();
    awaitLookedAtAgain();
    assertUntouched(theirs);

    pool.delete(EndpointPicker.class, "mine");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> pool.get(Service.class, "picker-service") == null);
    assertUntouched(theirs);
  }

  @Test
  void ofAClaimedPoolTheServiceThatAnotherControllerMadeIsToldAndLeftAlone() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    Service theirs =
        pool.createServiceOfAnotherController(
            "picker-service", pool.need(InferencePool.class, POOL));
    start(Adoption.NONE, Duration.ZERO);
    pool.awaitPool("ResolvedRefs", "False/InvalidExtensionRef");
    pool.awaitPicker("mine", "Ready", "False/InvalidExtensionRef");
    awaitLookedAtAgain();
    assertUntouched(theirs);
  }

  private void awaitLookedAtAgain() {
    int times = operator().reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator().awaitReconciled("InferencePool/pool", times + 2);
  }

  private void assertUntouched(Service theirs) {
    String name = theirs.getMetadata().getName();
    assertThat(operator().writes())
        .filteredOn(write -> write.resource().equals("services") && write.name().equals(name))
        .isEmpty();
    assertThat(pool.need(Service.class, name).getMetadata())
        .satisfies(now -> assertThat(now.getUid()).isEqualTo(theirs.getMetadata().getUid()))
        .satisfies(now -> assertThat(now.getDeletionTimestamp()).isNull());
  }

  /** Else the two would overwrite each other's for ever. */
  @Test
  void whatOthersTellOfAModelOfTheirPoolStays() {
    pool.createServiceOfAnother();
    pool.createPool();
    pool.createModel("theirs", "theirs", 90);
    pool.createModel("untold", "untold", 90);
    cluster
        .admin()
        .resource(pool.need(InferenceModel.class, "theirs"))
        .subresource("status")
        .patch(
            MERGE,
            "{\"status\":{\"conditions\":[{\"type\":\"Accepted\",\"status\":\"True\",\"reason\":\"ByOthers\",\"message\":\"m\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
    start(Adoption.ALL, Duration.ZERO);
    pool.awaitModel("untold", "ResolvedRefs", "False/PoolNotManaged");
    int times = operator().reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator().awaitReconciled("InferencePool/pool", times + 1);
    assertThat(pool.need(InferenceModel.class, "theirs").getStatus())
        .isNotNull()
        .satisfies(
            status ->
                assertThat(status.conditions())
                    .singleElement()
                    .satisfies(only -> assertThat(only.getReason()).isEqualTo("ByOthers")));
  }

  /** What we told before would contradict what whoever serves the pool tells now. */
  @Test
  void whatWeToldOfAModelGoesWhenOthersTellOfIt() {
    pool.createServiceOfAnother();
    pool.createPool();
    pool.createModel("theirs", "theirs", 90);
    pool.createModel("lost", "lost", 90, "nowhere");
    pool.createModel("partly", "partly", 90);
    start(Adoption.ALL, Duration.ZERO);
    pool.awaitModel("theirs", "Ready", "False/PoolNotManaged");
    pool.awaitModel("partly", "Ready", "False/PoolNotManaged");
    pool.awaitModel("lost", "Ready", "False/PoolNotFound");
    for (String model : List.of("theirs", "lost")) {
      tell(model);
      awaitOnlyTheirs(model, Map.of("Accepted", "True/ByOthers"));
    }
    tellInPart("partly");
    awaitOnlyTheirs("partly", Map.of("Accepted", "Unknown/ByOthers", "Noted", "True/ByOthers"));
    AuditLog.Mark told = operator().mark();
    int pools = operator().reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator().awaitReconciled("InferencePool/pool", pools + 1);
    // Models without a pool are looked at one after the other: the others have been by then.
    pool.createModel("after", "after", 90, "nowhere");
    pool.awaitModel("after", "ResolvedRefs", "False/PoolNotFound");
    assertThat(operator().requests(told))
        .filteredOn(AuditLog.Request::writes)
        .filteredOn(request -> !request.name().equals("after"))
        .filteredOn(request -> !request.resource().equals("events"))
        .as("those are left in peace")
        .isEmpty();
  }

  @Test
  void whatWeToldOfAModelGoesWithItsPickerAlsoWhereOthersToldOfItOnce() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    start(Adoption.NONE, Duration.ZERO);
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    tell("chat");
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    pool.delete(EndpointPicker.class, "mine");
    pool.awaitModel("chat", "Ready", "False/PoolNotManaged");
    pool.awaitModel("chat", "Accepted", "Unknown/Pending");
  }

  /** As one that plays by the rules does who believes that the model is its own. */
  private void tell(String model) {
    pool.acceptedByOthers("inference.networking.x-k8s.io", "InferenceModel", model);
  }

  /** As one that keeps a condition's status and since when it is, and has one of its own. */
  private void tellInPart(String model) {
    InferenceModel told = pool.need(InferenceModel.class, model);
    List<String> types = told.getStatus().conditions().stream().map(Condition::getType).toList();
    String path = "/status/conditions/%d/reason".formatted(types.indexOf("Accepted"));
    cluster
        .admin()
        .resource(told)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON),
            """
            [{"op":"replace","path":"%s","value":"ByOthers"},
             {"op":"add","path":"/status/conditions/-","value":{"type":"Noted","status":"True",
              "reason":"ByOthers","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}}]
            """
                .formatted(path));
  }

  private void awaitOnlyTheirs(String model, Map<String, String> told) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pool.modelConditions(model)).isEqualTo(told));
  }

  /** One that may not be deleted keeps none of the others. */
  @Test
  void ofAPoolThatIsGivenUpAllGoesThatMayGo() {
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    start(Adoption.NONE, Duration.ZERO);
    pool.awaitPool("Accepted", "True/Accepted");
    List<HasMetadata> policy = cluster.refuse(pool.namespace(), "DELETE", "", "serviceaccounts");
    try {
      cluster.awaitRefused(
          operator ->
              operator
                  .serviceAccounts()
                  .inNamespace(pool.namespace())
                  .withName(PICKER)
                  .dryRun()
                  .delete());
      pool.delete(EndpointPicker.class, "mine");
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                assertThat(pool.get(Deployment.class, PICKER)).isNull();
                assertThat(pool.get(ConfigMap.class, PICKER)).isNull();
                assertThat(pool.get(Service.class, "picker-service")).isNull();
                assertThat(pool.get(RoleBinding.class, PICKER)).isNull();
              });
      assertThat(pool.get(ServiceAccount.class, PICKER)).as("it may not go").isNotNull();
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(pool.all(Event.class))
                      .filteredOn(event -> event.getReason().equals("NotDeleted"))
                      .singleElement()
                      .satisfies(
                          told -> {
                            assertThat(told.getType()).isEqualTo("Warning");
                            assertThat(told.getInvolvedObject().getKind())
                                .isEqualTo("InferencePool");
                            assertThat(told.getMessage())
                                .contains(
                                    "ServiceAccount " + pool.namespace() + "/pool-epp",
                                    "see to that webhook or policy, or delete it by hand");
                          }));
    } finally {
      policy.forEach(object -> cluster.admin().resource(object).delete());
    }
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> pool.get(ServiceAccount.class, PICKER) == null);
  }

  @Test
  void aPoolThatNobodyElseServesIsTakenAfterTheGrace() {
    start(Adoption.ALL, Duration.ofSeconds(2));
    pool.createPool();
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
  }

  /** Who sets the label has said whose it is to be: there is nobody to wait for. */
  @Test
  void onlyALabelledPoolIsTakenWhereTheOperatorIsToldSoAndWithoutAnyGrace() {
    start(Adoption.LABELLED, Duration.ofMinutes(10));
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitModel("chat", "ResolvedRefs", "False/PoolNotManaged");
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .patch(MERGE, "{\"metadata\":{\"labels\":{\"fairlead.io/adopt\":\"true\"}}}");
    pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");

    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .patch(MERGE, "{\"metadata\":{\"labels\":{\"fairlead.io/adopt\":null}}}");
    await().until(() -> pool.get(Deployment.class, PICKER) == null);
    awaitEvent("NoLongerServed");
  }

  @Test
  void aNumberOfReplicasThatIsNotSetAnyMoreStays() {
    start(Adoption.ALL, Duration.ZERO);
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    patchPicker("{\"spec\":{\"replicas\":10}}");
    await().until(() -> replicas() == 10);
    PodTemplateSpec pods = pool.need(Deployment.class, PICKER).getSpec().getTemplate();
    await().until(() -> pool.get(PodDisruptionBudget.class, PICKER) != null);
    String budget = pool.need(PodDisruptionBudget.class, PICKER).getMetadata().getUid();

    patchPicker("{\"spec\":{\"replicas\":null}}");
    await()
        .until(
            () ->
                pool.need(Deployment.class, PICKER).getMetadata().getManagedFields().stream()
                    .anyMatch(fields -> fields.getManager().equals("fairlead-last-replicas")));
    int times = operator().reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator().awaitReconciled("InferencePool/pool", times + 2);
    assertThat(replicas()).isEqualTo(10);
    assertThat(pool.need(Deployment.class, PICKER).getSpec().getTemplate())
        .as("none is replaced")
        .isEqualTo(pods);
    assertThat(pool.get(PodDisruptionBudget.class, PICKER))
        .isNotNull()
        .satisfies(there -> assertThat(there.getMetadata().getUid()).isEqualTo(budget));

    cluster.admin().apps().deployments().inNamespace(pool.namespace()).withName(PICKER).scale(4);
    times = operator().reconciled("InferencePool/pool");
    pool.touchAll(2);
    operator().awaitReconciled("InferencePool/pool", times + 2);
    assertThat(replicas()).as("an autoscaler's").isEqualTo(4);

    cluster.admin().apps().deployments().inNamespace(pool.namespace()).withName(PICKER).scale(1);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> pool.get(PodDisruptionBudget.class, PICKER) == null);
    assertThat(pool.need(Deployment.class, PICKER).getSpec().getTemplate())
        .as("nor where one of them is left")
        .isEqualTo(pods);

    patchPicker("{\"spec\":{\"replicas\":3}}");
    await().until(() -> replicas() == 3);
  }

  @Test
  void theEntryIsNotPutBackAsFastAsOthersRemoveIt() {
    start(Adoption.ALL, Duration.ZERO);
    pool.createPool();
    pool.awaitPool("Ready", "False/RolloutInProgress");
    long before = entryWrites();
    for (int removal = 0; removal < 6; removal++) {
      removeEntry();
      pool.awaitPool("Accepted", "True/Accepted");
    }
    assertThat(operator().lostEntries()).isZero();
    removeEntry();
    awaitEvent("StatusEntryRemoved");
    await().until(() -> operator().lostEntries() == 1);
    int times = operator().reconciled("InferencePool/pool");
    pool.touchAll(1);
    operator().awaitReconciled("InferencePool/pool", times + 2);
    assertThat(pool.poolConditions()).isEmpty();
    assertThat(entryWrites() - before).isBetween(6L, 8L);
  }

  private void removeEntry() {
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .subresource("status")
        .patch(MERGE, "{\"status\":{\"parents\":[]}}");
  }

  private long entryWrites() {
    return operator().writes().stream()
        .filter(write -> write.resource().equals("inferencepools/status"))
        // One that comes too late for the version that it is of has to be sent again.
        .filter(write -> write.code() < HttpURLConnection.HTTP_BAD_REQUEST)
        .count();
  }

  private void awaitEvent(String reason) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              List<Event> events =
                  cluster.admin().v1().events().inNamespace(pool.namespace()).list().getItems();
              assertThat(events).extracting(Event::getReason).contains(reason);
            });
  }

  private int replicas() {
    return pool.need(Deployment.class, PICKER).getSpec().getReplicas();
  }

  private void patchPicker(String merge) {
    cluster.admin().resource(pool.need(EndpointPicker.class, "mine")).patch(MERGE, merge);
  }
}
