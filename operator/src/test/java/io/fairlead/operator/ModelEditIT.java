package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An edit of one model says nothing about the others; operator and picker are real. */
@ExtendWith(KubeApi.class)
class ModelEditIT {
  private static final int MODELS = 20;

  @Test
  void oneModelsEditIsToldOfThatModelAlone(KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("edit"));
    try (OperatorUnderTest operator =
        OperatorUnderTest.paced(cluster, pool, OperatorUnderTest.PATIENT)) {
      pool.createPool();
      for (int i = 0; i < MODELS; i++) {
        pool.createModel("m" + i, "m" + i, 90);
      }
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.becomeAvailable();
      try (Picker picker = new Picker(cluster, pool)) {
        for (int i = 0; i < MODELS; i++) {
          pool.awaitModel("m" + i, "Programmed", "True/Programmed");
        }
        pool.awaitPool("EndpointsAvailable", "False/NoMatchingPods");
        for (int i = 0; i < MODELS; i++) {
          pool.awaitModel("m" + i, "Ready", "False/NoMatchingPods");
        }
        pool.awaitEventsSent();
        AuditLog.Mark before = server.audit().mark();

        InferenceModel model = pool.need(InferenceModel.class, "m7");
        cluster
            .admin()
            .resource(model)
            .patch(
                PatchContext.of(PatchType.JSON_MERGE),
                "{\"spec\":{\"targetModels\":[{\"name\":\"a\",\"weight\":5}]}}");
        await()
            .atMost(Duration.ofSeconds(30))
            .untilAsserted(
                () -> {
                  assertThat(picker.report().configHash()).isEqualTo(pool.configHash());
                  InferenceModel now = pool.need(InferenceModel.class, "m7");
                  assertThat(now.getStatus().conditions())
                      .allSatisfy(
                          condition ->
                              assertThat(condition.getObservedGeneration())
                                  .isEqualTo(now.getMetadata().getGeneration()))
                      .filteredOn(condition -> condition.getType().equals("Programmed"))
                      .allSatisfy(condition -> assertThat(condition.getStatus()).isEqualTo("True"));
                });
        pool.awaitPool("Programmed", "True/Programmed");
        List<AuditLog.Request> asked = operator.requests(before);
        assertThat(asked)
            .filteredOn(request -> !OperatorUnderTest.looksForAKind(request))
            .as("all calls of the API server, Events and what is read included")
            .extracting(request -> request.verb() + " " + request.resource() + " " + request.name())
            .containsExactly(
                "patch configmaps " + PoolFixture.PICKER, "patch inferencemodels/status m7");
      }
    }
  }
}
