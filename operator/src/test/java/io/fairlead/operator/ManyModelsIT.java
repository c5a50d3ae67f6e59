package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What concerns all models of a pool, where each is a write. */
@ExtendWith(KubeApi.class)
class ManyModelsIT {
  private static final int MODELS = 40;

  private Installed cluster;
  private PoolFixture pool;

  @BeforeEach
  void prepare(KubeApi.Running server) {
    cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("many"));
    pool.createPool();
  }

  @Test
  void aPoolThatIsFullNowAndThenWritesNoModel() {
    pool.createModel("chat", "chat", 90);
    try (OperatorUnderTest operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      pool.awaitModel("chat", "Ready", "True/Ready");
      AuditLog.Mark ready = operator.mark();
      for (int i = 0; i < 4; i++) {
        pool.report(
            new PickerReport(
                pool.namespace() + "/pool",
                pool.configHash(),
                1,
                null,
                new PickerReport.Endpoints(3, 3, null),
                "2026-01-01T00:00:0%dZ".formatted(i)));
        pool.awaitPool("Saturated", "True/EveryEndpointFull");
        pool.reportCurrent();
        pool.awaitPool("Saturated", "False/RoomForRequests");
      }
      pool.awaitModel("chat", "Saturated", "False/RoomForRequests");
      assertThat(operator.requests(ready))
          .filteredOn(AuditLog.Request::writes)
          .filteredOn(request -> request.resource().equals("inferencemodels/status"))
          .isEmpty();
    }
  }

  /** Of very many endpoints one more is named with each look, and the models say no more by it. */
  @Test
  void whichEndpointsAreSilentIsWrittenToNoModel() {
    pool.createModel("chat", "chat", 90);
    try (OperatorUnderTest operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      reportSilent(1);
      pool.awaitModel("chat", "Ready", "False/NoEndpointAnswers");
      AuditLog.Mark told = operator.mark();
      for (int i = 2; i <= 4; i++) {
        String silent = reportSilent(i);
        await().until(() -> pool.poolMessage("EndpointsAvailable").contains(silent));
      }
      pool.reportCurrent();
      pool.awaitModel("chat", "Ready", "True/Ready");
      assertThat(operator.requests(told))
          .filteredOn(AuditLog.Request::writes)
          .filteredOn(request -> request.resource().equals("inferencemodels/status"))
          .as("that it is ready again")
          .hasSize(1);
    }
  }

  private String reportSilent(int which) {
    String name = "server-" + which;
    pool.report(
        new PickerReport(
            pool.namespace() + "/pool",
            pool.configHash(),
            1,
            null,
            new PickerReport.Endpoints(
                1,
                0,
                "NoEndpointAnswers",
                1,
                List.of(new PickerReport.Out(name, "is slow", "2026-01-01T00:00:00Z")))));
    return name;
  }

  @Test
  void anEditedModelIsToldBeforeAllOthersAre() {
    List<String> models = IntStream.range(0, MODELS).mapToObj("m-%d"::formatted).toList();
    models.forEach(model -> pool.createModel(model, model, 90));
    List<String> written = new CopyOnWriteArrayList<>();
    AtomicBoolean slow = new AtomicBoolean();
    CountDownLatch edit = new CountDownLatch(1);
    try (OperatorUnderTest _ =
        new OperatorUnderTest(
            cluster,
            pool,
            true,
            write -> {
              if (write.contains("/inferencemodels/")) {
                written.add(write.replaceFirst(".*/inferencemodels/(.*)/status", "$1"));
                if (slow.get()) {
                  awaited(edit);
                  // As an API server that takes its time for each.
                  LockSupport.parkNanos(Duration.ofMillis(500).toNanos());
                }
              }
            })) {
      pool.becomeReady();
      models.forEach(model -> pool.awaitModel(model, "Ready", "True/Ready"));
      written.clear();
      slow.set(true);
      pool.becomeUnavailable();
      await().until(() -> !written.isEmpty());
      String last = models.getLast();
      cluster
          .admin()
          .resource(pool.need(InferenceModel.class, last))
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"spec\":{\"targetModels\":[{\"name\":\"a\",\"weight\":1}]}}");
      edit.countDown();
      long edited = pool.need(InferenceModel.class, last).getMetadata().getGeneration();
      await().atMost(Duration.ofSeconds(60)).until(() -> observed(last) == edited);
      List<String> told = List.copyOf(written);
      slow.set(false);
      assertThat(told.subList(0, told.lastIndexOf(last)).stream().distinct().count())
          .as("models that were told before")
          .isLessThan(MODELS / 2);

      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(models)
                      .allSatisfy(
                          model ->
                              assertThat(pool.modelConditions(model).get("Ready"))
                                  .startsWith("False/")));
    }
  }

  private static void awaited(CountDownLatch edit) {
    try {
      edit.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long observed(String model) {
    return pool.need(InferenceModel.class, model)
        .getStatus()
        .conditions()
        .getFirst()
        .getObservedGeneration();
  }
}
