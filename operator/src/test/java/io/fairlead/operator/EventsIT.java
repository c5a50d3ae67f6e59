package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What becomes wrong, and that all is well, is told once as an Event of its object. */
@ExtendWith(KubeApi.class)
class EventsIT {
  private static Installed cluster;

  private PoolFixture pool;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void prepare() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("events"));
    pool.createPicker("mine", "{name: pool}");
    pool.createPool();
    pool.createModel("chat", "chat", 90);
  }

  @Test
  void aTransitionIsToldOnceHoweverOftenItIsLookedAt() {
    List<String> told;
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      pool.awaitModel("chat", "Ready", "True/Ready");
      awaitEvent("InferencePool/pool Normal Ready Ready is True: Picker pool-epp serves the pool");
      awaitEvent("EndpointPicker/mine Normal Ready Ready is True: Picker pool-epp serves the pool");
      awaitEvent(
          "InferenceModel/chat Normal Ready Ready is True: Requests for the model are served");
      assertThat(events())
          .noneMatch(event -> event.contains("Reconciling"))
          .as("steps on the way to Ready")
          .noneMatch(event -> event.contains("Accepted is True"))
          .noneMatch(event -> event.contains("Programmed is True"))
          .as("nobody has to do anything about a start")
          .noneMatch(event -> event.contains("NoReadyReplicas Available is False"));

      schedule("{\"plugins\":[{\"type\":\"queue-scorrer\"}]}");
      pool.awaitPool("Ready", "False/InvalidSpec");
      awaitWarning("InferencePool/pool Warning InvalidSpec Accepted, Ready are False: ");
      awaitWarning("EndpointPicker/mine Warning InvalidSpec Accepted, Ready are False: ");

      told = settled(operator);
      assertThat(told).doesNotHaveDuplicates();
    }
    // Neither a look at everything nor another operator finds anything new.
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      operator.awaitReconciled("InferencePool/pool", 1);
      assertThat(settled(operator)).containsExactlyInAnyOrderElementsOf(told);
    }
  }

  @Test
  void whatOthersChangeOrDeleteIsToldOnceWhenItIsPutRight() {
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      schedule("{\"plugins\":[{\"type\":\"queue-scorer\"}]}");
      await().atMost(Duration.ofSeconds(30)).until(() -> pool.config().contains("queue-scorer"));
      pool.reportCurrent();
      assertThat(settled(operator)).as("an edit of ours is none").noneMatch(this::isRepair);

      String service = pool.need(Service.class, "picker-service").getMetadata().getUid();
      pool.delete(Service.class, "picker-service");
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  pool.get(Service.class, "picker-service") != null
                      && !pool.need(Service.class, "picker-service")
                          .getMetadata()
                          .getUid()
                          .equals(service));
      for (int i = 0; i < 3; i++) {
        cluster
            .admin()
            .resource(pool.need(ConfigMap.class, PoolFixture.PICKER))
            .patch(
                PatchContext.of(PatchType.JSON_MERGE),
                "{\"data\":{\"config.yaml\":\"nonsense %d\"}}".formatted(i));
        await().atMost(Duration.ofSeconds(30)).until(() -> pool.config().contains("queue-scorer"));
      }
      assertThat(settled(operator))
          .filteredOn(this::isRepair)
          .hasSize(2)
          .anyMatch(
              event ->
                  event.contains("Service " + pool.namespace() + "/picker-service was deleted"))
          .anyMatch(
              event ->
                  event.contains("ConfigMap " + pool.namespace() + "/pool-epp was changed by "));
    }
  }

  private boolean isRepair(String event) {
    return event.startsWith("InferencePool/pool Warning Repaired ");
  }

  @Test
  void anEntryThatOthersRemovedIsPutBackWithoutAWord() {
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      pool.awaitModel("chat", "Ready", "True/Ready");
      awaitEvent("InferencePool/pool Normal Ready Ready is True: Picker pool-epp serves the pool");
      List<String> told = settled(operator);
      cluster
          .admin()
          .resource(pool.need(InferencePool.class, PoolFixture.POOL))
          .subresource("status")
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"parents\":[]}}");
      pool.awaitPool("Ready", "True/Ready");
      assertThat(settled(operator)).containsExactlyInAnyOrderElementsOf(told);
    }
  }

  /** Of hundreds of models each would tell the same, at each turn. */
  @Test
  void thatThereIsNoRoomIsToldOfThePoolAndOfNoModel() {
    try (var operator = OperatorUnderTest.paced(cluster, pool, OperatorUnderTest.UNSTEADY)) {
      pool.becomeReady();
      pool.awaitModel("chat", "Ready", "True/Ready");
      pool.report(
          new PickerReport(
              pool.namespace() + "/pool",
              pool.configHash(),
              1,
              null,
              new PickerReport.Endpoints(3, 3, null),
              "2026-01-01T00:00:00Z"));
      pool.awaitModel("chat", "Saturated", "True/EveryEndpointFull");
      pool.reportCurrent();
      pool.awaitModel("chat", "Saturated", "False/RoomForRequests");
      List<String> told = settled(operator);
      assertThat(told)
          .filteredOn(event -> event.startsWith("InferencePool/pool Warning EveryEndpointFull "))
          .hasSize(1);
      assertThat(told)
          .filteredOn(event -> event.startsWith("InferencePool/pool Normal RoomForRequests "))
          .hasSize(1);
      assertThat(told)
          .filteredOn(event -> event.startsWith("InferenceModel/"))
          .noneMatch(event -> event.contains("Saturated"));
    }
  }

  /**
   * All Events of the objects there were, when another look at everything has ended. Events are
   * sent in their order: the one of a model that comes after it is the last.
   */
  private List<String> settled(OperatorUnderTest operator) {
    int reconciled = operator.reconciled("InferencePool/pool");
    pool.touchAll(reconciled);
    operator.awaitReconciled("InferencePool/pool", reconciled + 1);
    String last = "last-" + operator.writes().size();
    pool.createModel(last, last, 90, "nowhere");
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> events().stream().anyMatch(event -> event.startsWith("InferenceModel/" + last)));
    return events().stream().filter(event -> !event.startsWith("InferenceModel/last-")).toList();
  }

  private void awaitEvent(String event) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(events()).containsOnlyOnce(event));
  }

  private void awaitWarning(String beginning) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(events())
                    .filteredOn(event -> event.startsWith(beginning))
                    .singleElement()
                    .asString()
                    .contains("queue-scorrer"));
  }

  private List<String> events() {
    return cluster
        .admin()
        .resources(Event.class)
        .inNamespace(pool.namespace())
        .list()
        .getItems()
        .stream()
        .map(
            event ->
                "%s/%s %s %s %s"
                    .formatted(
                        event.getInvolvedObject().getKind(),
                        event.getInvolvedObject().getName(),
                        event.getType(),
                        event.getReason(),
                        event.getMessage()))
        .toList();
  }

  private void schedule(String scheduling) {
    cluster
        .admin()
        .resource(pool.need(EndpointPicker.class, "mine"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"scheduling\":" + scheduling + "}}");
  }
}
