package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerStatus;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What becomes of a config that cannot be run: the operator and a picker, both real. */
@ExtendWith(KubeApi.class)
class RefusedConfigIT {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  /** The operator's data knows the type and the setting, not that it makes no sense there. */
  private static final String ONLY_THE_PICKER_KNOWS =
      "{\"plugins\":[{\"type\":\"queue-scorer\"}],\"schedulingProfiles\":[{\"name\":\"a\"},{\"name\":\"b\"}]}";

  private static Installed cluster;

  private PoolFixture pool;
  private OperatorUnderTest operator;
  private Picker picker;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void serve() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("refused"));
    operator = new OperatorUnderTest(cluster, pool, true);
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    pool.awaitPool("Ready", "False/RolloutInProgress");
    pool.awaitPickerCarriedOut();
    pool.becomeAvailable();
    picker = new Picker(cluster, pool);
    pool.awaitPool("Programmed", "True/Programmed");
    pool.awaitPool("Ready", "True/Ready");
  }

  @AfterEach
  void stop() {
    operator.close();
    picker.close();
  }

  @Test
  void aMisspeltPluginIsToldByItsFieldAndModelsGoOn() {
    ConfigHash good = pool.configHash();
    schedule("{\"plugins\":[{\"type\":\"queue-scorrer\"}]}");

    pool.awaitPool("Accepted", "False/InvalidSpec");
    assertThat(pool.poolMessage("Accepted"))
        .contains("spec.scheduling.plugins[0].type", "queue-scorrer", "did you mean queue-scorer");
    pool.awaitPool("Ready", "False/InvalidSpec");
    assertThat(pool.configHash()).as("nothing was written that cannot run").isEqualTo(good);

    pool.createModel("sum", "sum", 10);
    pool.awaitModel("sum", "Programmed", "True/Programmed");
    assertThat(picker.report().configHash()).isEqualTo(pool.configHash()).isNotEqualTo(good);
    assertThat(picker.report().refused()).isNull();

    schedule("{\"plugins\":[{\"type\":\"queue-scorer\"}]}");
    // Between the two patches the picker asks for the defaults, which are as good.
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pool.config()).contains("queue-scorer"));
    pool.awaitPool("Ready", "True/Ready");
  }

  @Test
  void aParameterOutOfRangeIsToldByItsField() {
    schedule("{\"plugins\":[{\"type\":\"load-aware-scorer\",\"parameters\":{\"threshold\":0}}]}");
    pool.awaitPool("Accepted", "False/InvalidSpec");
    assertThat(pool.poolMessage("Accepted"))
        .contains("spec.scheduling.plugins[0].parameters.threshold", "is 0", "at least 1");
  }

  @Test
  void whatOnlyThePickerCanTellIsToldAndAPickerThatRestartsRunsTheLastGoodOne() {
    ConfigHash good = pool.configHash();
    schedule(ONLY_THE_PICKER_KNOWS);

    pool.awaitPool("Programmed", "False/ConfigRejected");
    pool.awaitPool("Ready", "False/ConfigRejected");
    assertThat(pool.poolMessage("Programmed")).contains("scheduling.schedulingProfiles");
    assertThat(picker.report().configHash()).isEqualTo(good);
    awaitHashOfThePickers(good);

    pool.createModel("sum", "sum", 10);
    pool.awaitModel("sum", "Programmed", "True/Programmed");
    assertThat(pool.modelConditions("chat")).containsEntry("Programmed", "True/Programmed");
    assertThat(pool.poolConditions()).containsEntry("Programmed", "False/ConfigRejected");
    ConfigHash mixed = Objects.requireNonNull(picker.report().configHash());
    assertThat(mixed).isNotEqualTo(good).isNotEqualTo(pool.configHash());

    picker.close();
    picker = new Picker(cluster, pool);
    await().atMost(Duration.ofSeconds(30)).until(() -> mixed.equals(picker.report().configHash()));
    // It reports a config a moment before it says that it is no longer missing.
    await().atMost(Duration.ofSeconds(30)).until(() -> !picker.notReady().contains("config"));
    pool.awaitPool("Programmed", "False/ConfigRejected");

    schedule("{\"plugins\":[{\"type\":\"queue-scorer\"}]}");
    // Between the two patches the picker asks for the defaults, which can be run, too.
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(pool.config())
                    .contains("queue-scorer")
                    .doesNotContain("schedulingProfiles"));
    pool.awaitPool("Programmed", "True/Programmed");
    awaitHashOfThePickers(pool.configHash());
  }

  @Test
  void aDocumentThatThePickerCannotReadIsTold() {
    // As a newer operator may write: the operator of the test must not put it right.
    operator.close();
    ConfigHash good = pool.configHash();
    ConfigHash newer = ConfigHash.of("of a later release");
    cluster
        .admin()
        .resource(pool.need(ConfigMap.class, PoolFixture.PICKER))
        .patch(
            MERGE,
            "{\"metadata\":{\"annotations\":{\"%s\":\"%s\"}},\"data\":{\"config.yaml\":\"later: true\"}}"
                .formatted(ConfigHash.ANNOTATION, newer));
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                picker.report().refused() != null
                    && newer.equals(picker.report().refused().hash()));
    assertThat(picker.report().configHash()).isEqualTo(good);
    operator = new OperatorUnderTest(cluster, pool, true);
    await().atMost(Duration.ofSeconds(30)).until(() -> picker.report().refused() == null);
  }

  @Test
  void aTypeOfTheImagesOwnIsThePickersToJudgeOnceItIsDeclared() {
    schedule("{\"plugins\":[{\"type\":\"zone-scorer\",\"parameters\":{\"weight\":1}}]}");
    pool.awaitPool("Accepted", "False/InvalidSpec");
    assertThat(pool.poolMessage("Accepted")).contains("spec.pluginTypes");

    patch("{\"spec\":{\"pluginTypes\":[\"zone-scorer\"]}}");
    pool.awaitPool("Accepted", "True/Accepted");
    pool.awaitPool("Programmed", "False/ConfigRejected");
    assertThat(pool.poolMessage("Programmed")).contains("zone-scorer");
  }

  private void awaitHashOfThePickers(ConfigHash hash) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              EndpointPickerStatus status = pool.need(EndpointPicker.class, "mine").getStatus();
              assertThat(Objects.requireNonNull(status).configHash()).isEqualTo(hash.hex());
            });
  }

  private void schedule(String scheduling) {
    // Merging would keep what the new text leaves out.
    patch("{\"spec\":{\"scheduling\":null}}");
    patch("{\"spec\":{\"scheduling\":" + scheduling + "}}");
  }

  private void patch(String merge) {
    cluster.admin().resource(pool.need(EndpointPicker.class, "mine")).patch(MERGE, merge);
  }
}
