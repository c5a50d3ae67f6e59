package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.InferencePoolStatus;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.InferenceModelStatus;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What others do to the objects of a pool: refuse, take, garble and add. */
@ExtendWith(KubeApi.class)
@Makes(Reason.STATUS_REFUSED)
class TroubleIT {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final String NOTE = "example.test/Noted";

  private static Installed cluster;

  private PoolFixture pool;
  private @Nullable OperatorUnderTest operator;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void prepare() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("trouble"));
  }

  @AfterEach
  void stop() {
    if (operator != null) {
      operator.close();
    }
  }

  private OperatorUnderTest start() {
    return start(write -> {});
  }

  private OperatorUnderTest start(Consumer<String> onWrite) {
    OperatorUnderTest started = new OperatorUnderTest(cluster, pool, true, onWrite);
    operator = started;
    return started;
  }

  @Test
  void aRefusedStatusSilencesNoOther() {
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.createPicker("mine", "{name: pool}");
    List<HasMetadata> policy =
        cluster.refuse(pool.namespace(), "UPDATE", InferencePool.GROUP, "inferencepools/status");
    try {
      pool.awaitStatusRefused(cluster);
      start();
      pool.awaitModel("chat", "Accepted", "True/Accepted");
      pool.awaitPicker("mine", "Accepted", "True/Accepted");
      assertThat(pool.poolConditions()).isEmpty();
      pool.awaitPicker("mine", "StatusWritten", "False/StatusRefused");
      assertThat(pool.pickerMessage("mine", "StatusWritten"))
          .contains("status of InferencePool " + pool.namespace() + "/pool", "ValidatingAdmission");
      pool.awaitEventsSent();
      assertThat(pool.all(Event.class))
          .filteredOn(event -> event.getInvolvedObject().getKind().equals("InferencePool"))
          .extracting(Event::getReason)
          .containsOnlyOnce(Notice.STATUS_REFUSED.wireName());
    } finally {
      policy.forEach(part -> cluster.admin().resource(part).delete());
    }
    pool.awaitPool("Accepted", "True/Accepted");
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> assertThat(pool.pickerConditions("mine")).doesNotContainKey("StatusWritten"));
  }

  @Test
  void aReportThatCannotBeReadIsTold() {
    start();
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.becomeReady();
    for (String report :
        List.of(
            "{\"configHash\":\"x\",\"refused\":{}}",
            "{\"endpoints\":{\"matching\":-1,\"ready\":0}}",
            "none")) {
      pool.report(report);
      pool.awaitPool("Programmed", "Unknown/Pending");
      pool.awaitPool("EndpointsAvailable", "Unknown/Pending");
      await().until(() -> pool.poolMessage("Programmed").contains("epp-1 cannot be read"));
      assertThat(pool.poolMessage("EndpointsAvailable")).contains("epp-1 cannot be read");
      pool.reportCurrent();
      pool.awaitPool("Ready", "True/Ready");
    }
  }

  @Test
  void conditionsOfOthersAreKeptAndWriteNothing() {
    OperatorUnderTest started = start();
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.becomeReady();
    pool.awaitModel("chat", "Ready", "True/Ready");
    note(pool.need(InferenceModel.class, "chat"));
    note(pool.need(InferencePool.class, POOL));
    pool.awaitEventsSent();
    int settled = started.writes().size();
    for (int round = 0; round < 3; round++) {
      int times = started.reconciled("InferencePool/pool");
      pool.touchAll(round);
      started.awaitReconciled("InferencePool/pool", times + 1);
    }
    assertThat(started.writes()).hasSize(settled);

    pool.losePod();
    pool.awaitPool("Ready", "False/NoReadyReplicas");
    pool.awaitModel("chat", "Ready", "False/EPPUnavailable");
    assertThat(pool.poolConditions()).containsEntry(NOTE, "True/Noted");
    assertThat(pool.modelConditions("chat"))
        .containsEntry(NOTE, "True/Noted")
        .as("one of ours that no longer holds goes when it is due")
        .containsKey("Reconciling");
    pool.becomeAvailable();
    pool.reportCurrent();
    pool.awaitModel("chat", "Ready", "True/Ready");
    assertThat(pool.modelConditions("chat")).doesNotContainKey("Reconciling").containsKey(NOTE);
  }

  @Test
  void aPickerForAnotherKindOfPoolClaimsNothing() {
    start();
    pool.createPicker("kind", "{kind: Pool, name: pool}");
    pool.createPicker("group", "{group: example.test, name: pool}");
    pool.createPool();
    pool.awaitPool("Accepted", "True/Accepted");
    pool.awaitPicker("kind", "Accepted", "False/InvalidSpec");
    pool.awaitPicker("group", "Accepted", "False/InvalidSpec");
    assertThat(pool.pickerMessage("kind", "Accepted")).contains("spec.poolRef.kind");
    assertThat(pool.pickerMessage("group", "Accepted")).contains("spec.poolRef.group");
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
    assertThat(pool.pickerImage()).isEqualTo(OperatorUnderTest.IMAGE);

    cluster
        .admin()
        .resource(pool.need(EndpointPicker.class, "kind"))
        .patch(MERGE, "{\"spec\":{\"poolRef\":{\"kind\":\"InferencePool\"}}}");
    pool.awaitPicker("kind", "Accepted", "True/Accepted");
  }

  @Test
  void whatAppearsBetweenLookAndApplyIsNotTouched() {
    AtomicBoolean taken = new AtomicBoolean();
    start(
        write -> {
          if (isConfigMap(write) && taken.compareAndSet(false, true)) {
            createForeignConfigMap();
          }
        });
    pool.createPool();
    awaitTaken();

    pool.delete(ConfigMap.class, PICKER);
    pool.createModel("chat", "chat", 90);
    await().until(() -> pool.get(Deployment.class, PICKER) != null);
  }

  @Test
  void whatReplacesAChildBetweenLookAndApplyIsNotTouched() {
    AtomicBoolean armed = new AtomicBoolean();
    start(
        write -> {
          if (isConfigMap(write) && armed.compareAndSet(true, false)) {
            pool.delete(ConfigMap.class, PICKER);
            createForeignConfigMap();
          }
        });
    pool.createPool();
    pool.becomeReady();
    armed.set(true);
    pool.createModel("chat", "chat", 90);
    awaitTaken();
  }

  private static boolean isConfigMap(String write) {
    return write.startsWith("PATCH") && write.endsWith("/configmaps/" + PICKER);
  }

  private void createForeignConfigMap() {
    cluster
        .admin()
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName(PICKER)
                .withNamespace(pool.namespace())
                .endMetadata()
                .addToData("of", "others")
                .build())
        .create();
  }

  private void awaitTaken() {
    // Without a ConfigMap of ours there is no config until it is known which kinds the cluster
    // lacks.
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              assertThat(pool.poolConditions()).containsEntry("Programmed", "False/EPPUnavailable");
              assertThat(pool.poolMessage("Programmed"))
                  .contains("ConfigMap", PICKER, "is not ours");
            });
    ConfigMap map = pool.need(ConfigMap.class, PICKER);
    assertThat(map.getData()).isEqualTo(Map.of("of", "others"));
    assertThat(map.getMetadata().getOwnerReferences()).isEmpty();
    assertThat(map.getMetadata().getAnnotations()).isNullOrEmpty();
  }

  private static Condition noted() {
    return new ConditionBuilder()
        .withType(NOTE)
        .withStatus("True")
        .withReason("Noted")
        .withMessage("by somebody else")
        .withLastTransitionTime("2026-01-01T00:00:00Z")
        .build();
  }

  private void note(InferenceModel model) {
    InferenceModel patch = new InferenceModel();
    patch.setMetadata(
        new ObjectMetaBuilder()
            .withName(model.getMetadata().getName())
            .withNamespace(pool.namespace())
            .build());
    patch.setStatus(new InferenceModelStatus(List.of(noted())));
    cluster
        .admin()
        .resource(patch)
        .subresource("status")
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.SERVER_SIDE_APPLY)
                .withFieldManager("somebody")
                .build());
  }

  private void note(InferencePool read) {
    ParentStatus entry = Objects.requireNonNull(read.getStatus()).parents().getFirst();
    List<Condition> conditions = new ArrayList<>(entry.conditions());
    conditions.add(noted());
    read.setStatus(
        new InferencePoolStatus(
            List.of(new ParentStatus(entry.parentRef(), entry.controllerName(), conditions))));
    cluster.admin().resource(read).updateStatus();
  }
}
