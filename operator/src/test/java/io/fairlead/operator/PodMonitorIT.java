package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A picker's PodMonitor, on an API server of its own: the kind is not there at first. */
@Makes(Reason.NO_POD_MONITORS)
class PodMonitorIT {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  /** A kind that wasn't there is looked for at growing intervals. */
  private static final Duration SEEN = Duration.ofSeconds(90);

  private static KubeApi.Running server;

  @BeforeAll
  static void startServer() {
    server = KubeApi.Running.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Test
  void itIsMadeWhereTheClusterHasTheKindAndToldWhereNot() {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("monitored"));
    pool.create(
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: mine}
        spec: {poolRef: {name: pool}, monitoring: {podMonitor: {interval: 15s, labels: {release: prometheus}}}}
        """);
    pool.createPool();
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPicker("mine", "Monitored", "False/NoPodMonitors");
      assertThat(pool.pickerMessage("mine", "Monitored"))
          .contains("install the Prometheus operator", "EndpointPicker mine");
      pool.becomeReady();

      Crds.podMonitors(cluster.admin());
      await().atMost(SEEN).until(() -> monitor(cluster, pool) != null);
      await()
          .atMost(Duration.ofSeconds(15))
          .untilAsserted(
              () ->
                  assertThat(pool.pickerConditions("mine"))
                      .containsEntry("Ready", "True/Ready")
                      .doesNotContainKey("Monitored"));
      assertThat(spec(cluster, pool))
          .contains("port=http-metrics", "interval=15s", "fairlead.io/picker=pool-epp");
      int writes = operator.writes().size();
      int times = operator.reconciled("InferencePool/pool");
      pool.touchAll(1);
      operator.awaitReconciled("InferencePool/pool", times + 1);
      assertThat(operator.writes()).as("nothing is applied again").hasSize(writes);

      cluster
          .admin()
          .genericKubernetesResources("monitoring.coreos.com/v1", "PodMonitor")
          .inNamespace(pool.namespace())
          .withName(PoolFixture.PICKER)
          .patch(MERGE, "{\"spec\":{\"podMetricsEndpoints\":[{\"port\":\"wrong\"}]}}");
      await()
          .atMost(Duration.ofSeconds(15))
          .untilAsserted(() -> assertThat(spec(cluster, pool)).contains("port=http-metrics"));

      cluster
          .admin()
          .resource(pool.need(EndpointPicker.class, "mine"))
          .patch(MERGE, "{\"spec\":{\"monitoring\":null}}");
      await().atMost(Duration.ofSeconds(15)).until(() -> monitor(cluster, pool) == null);
      pool.awaitPool("Ready", "True/Ready");
    }
  }

  private static String spec(Installed cluster, PoolFixture pool) {
    GenericKubernetesResource monitor = monitor(cluster, pool);
    Map<String, Object> spec = monitor == null ? Map.of() : monitor.get("spec");
    return String.valueOf(spec);
  }

  private static @Nullable GenericKubernetesResource monitor(Installed cluster, PoolFixture pool) {
    return cluster
        .admin()
        .genericKubernetesResources("monitoring.coreos.com/v1", "PodMonitor")
        .inNamespace(pool.namespace())
        .withName(PoolFixture.PICKER)
        .get();
  }
}
