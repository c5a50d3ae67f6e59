package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What nobody thought of is told, too; on an API server of its own, whose schemas it takes away.
 */
@Makes(Reason.OPERATOR_ERROR)
class UnexpectedIT {
  private static KubeApi.Running server;
  private static Installed cluster;

  @BeforeAll
  static void startServer() {
    server = KubeApi.Running.start();
    cluster = Installed.on(server);
    String crd =
        "{\"spec\":{\"versions\":[{\"name\":\"v1alpha1\",\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";
    cluster
        .admin()
        .resources(CustomResourceDefinition.class)
        .withName(HasMetadata.getFullResourceName(EndpointPicker.class))
        .patch(PatchContext.of(PatchType.JSON_MERGE), crd);
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Test
  void whatTheOperatorFailsAtIsToldAndMendedByTheNextEdit() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("unexpected"));
    try (var _ = new OperatorUnderTest(cluster, pool, false)) {
      // The informer sees what the new schema lets in a moment after the schema.
      await()
          .atMost(Duration.ofSeconds(30))
          .ignoreExceptions()
          .untilAsserted(
              () -> {
                pool.create(
                    """
                    apiVersion: fairlead.io/v1alpha1
                    kind: EndpointPicker
                    metadata: {name: mine}
                    spec: {poolRef: {name: pool}, autoscaling: {maxReplicas: 2, podMetrics: [{name: m}]}}
                    """);
                assertThat(pool.get(EndpointPicker.class, "mine")).isNotNull();
              });
      pool.createPool();
      pool.awaitPool("Ready", "False/OperatorError");
      pool.awaitPool("Programmed", "False/OperatorError");
      pool.awaitPicker("mine", "Ready", "False/OperatorError");
      assertThat(pool.poolMessage("Ready")).contains("InferencePool pool", "see its log");
      assertThat(pool.get(Deployment.class, PoolFixture.PICKER)).isNull();

      cluster
          .admin()
          .resource(pool.need(EndpointPicker.class, "mine"))
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"spec\":{\"autoscaling\":{\"podMetrics\":[{\"name\":\"m\",\"averageValue\":\"1\"}]}}}");
      pool.awaitPool("Ready", "False/RolloutInProgress");
    }
  }

  /** As a bug may throw it; what the fence refuses is a type of its own. */
  @Test
  void anIllegalStateIsToldAsWhatItIs() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("illegal"));
    AtomicBoolean broken = new AtomicBoolean(true);
    try (var _ =
        new OperatorUnderTest(
            cluster,
            pool,
            true,
            write -> {
              if (broken.get() && write.contains("/deployments/")) {
                throw new IllegalStateException("nobody thought of it");
              }
            })) {
      pool.createPool();
      pool.createModel("chat", "chat", 90);
      pool.awaitPool("Ready", "False/OperatorError");
      assertThat(pool.poolMessage("Ready")).contains("IllegalStateException");
      pool.awaitModel("chat", "Ready", "False/OperatorError");
      pool.awaitModel("chat", "Accepted", "Unknown/Pending");
      assertThat(pool.modelMessage("chat", "Ready")).contains("InferencePool pool", "see its log");
      broken.set(false);
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.awaitModel("chat", "Accepted", "True/Accepted");
    }
  }

  /** What is told wakes the pool, and it may be told that all is well before the next failure. */
  @Test
  void whatFailsAgainAndAgainIsTriedRarely() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("again"));
    AtomicInteger tries = new AtomicInteger();
    try (var _ =
        new OperatorUnderTest(
            cluster,
            pool,
            true,
            write -> {
              if (write.startsWith("DELETE ") && write.contains("/services/")) {
                tries.incrementAndGet();
                throw new IllegalStateException("nobody thought of it");
              }
            })) {
      pool.createPool();
      pool.createModel("chat", "chat", 90);
      pool.becomeReady();
      pool.awaitModel("chat", "Ready", "True/Ready");
      pool.create(
          """
          apiVersion: discovery.k8s.io/v1
          kind: EndpointSlice
          metadata: {name: renamed-1, labels: {kubernetes.io/service-name: renamed}}
          addressType: IPv4
          endpoints: [{addresses: [10.1.2.3]}]
          """);
      AuditLog.Mark mark = cluster.audit().mark();
      cluster
          .admin()
          .resource(pool.need(InferencePool.class, PoolFixture.POOL))
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"spec\":{\"endpointPickerRef\":{\"name\":\"renamed\"}}}");
      pool.awaitPool("Ready", "False/OperatorError");
      await()
          .during(Duration.ofSeconds(4))
          .atMost(Duration.ofSeconds(30))
          .until(() -> tries.get() < 6);
      long told =
          cluster.audit().since(mark).stream()
              .filter(r -> r.user().equals(Installed.OPERATOR))
              .filter(r -> r.resource().equals("inferencepools/status"))
              .count();
      assertThat(told)
          .as("of each try that it failed, and that all is well")
          .isLessThan(6 + 3L * tries.get());
      assertThat(pool.modelConditions("chat"))
          .as("it was told of before each failure")
          .containsEntry("Ready", "True/Ready");

      cluster
          .admin()
          .resource(pool.need(InferenceModel.class, "chat"))
          .patch(
              PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"criticality\":\"Standard\"}}");
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                InferenceModel now = pool.need(InferenceModel.class, "chat");
                assertThat(Objects.requireNonNull(now.getStatus()).conditions())
                    .allSatisfy(
                        condition ->
                            assertThat(condition.getObservedGeneration())
                                .isEqualTo(now.getMetadata().getGeneration()));
              });
    }
  }

  @Test
  void aPodThatHasEndedIsAskedNoMore() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("ended"));
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.createPool();
      pool.becomeReady();
      pool.evicted(
          "epp-0",
          new PickerReport(
              pool.namespace() + "/pool",
              null,
              0,
              new PickerReport.Refused(pool.configHash(), "an older image does not know it"),
              new PickerReport.Endpoints(0, 0, null)));
      int before = operator.reconciled("InferencePool/pool");
      pool.touchAll(1);
      operator.awaitReconciled("InferencePool/pool", before + 2);
      assertThat(pool.poolConditions())
          .containsEntry("Programmed", "True/Programmed")
          .containsEntry("Ready", "True/Ready");
    }
  }

  @Test
  void aPodThatLeavesIsAskedNoMore() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("leaving"));
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.createPool();
      pool.becomeReady();
      PickerReport refuses =
          new PickerReport(
              pool.namespace() + "/pool",
              null,
              0,
              new PickerReport.Refused(pool.configHash(), "an older image does not know it"),
              new PickerReport.Endpoints(0, 0, null));
      pool.drainingPod("epp-0", refuses);
      pool.awaitPool("Programmed", "False/ConfigRejected");
      pool.delete(Pod.class, "epp-0");
      pool.awaitPool("Programmed", "True/Programmed");
      assertThat(pool.get(Pod.class, "epp-0")).as("it drains").isNotNull();
      pool.letGo("epp-0");

      pool.drainingPod("epp-2", refuses);
      pool.awaitPool("Programmed", "False/ConfigRejected");
      cluster
          .admin()
          .resource(pool.need(Pod.class, "epp-2"))
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"metadata\":{\"labels\":{\"app.kubernetes.io/name\":\"to-be-looked-at\"}}}");
      pool.awaitPool("Programmed", "True/Programmed");
      pool.letGo("epp-2");
    }
  }
}
