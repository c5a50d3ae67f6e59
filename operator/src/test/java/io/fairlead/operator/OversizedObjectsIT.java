package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.OperatorProgram;
import io.fairlead.operator.testing.PoolFixture;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whoever may edit one namespace can have objects there that are larger, in ways that a reader of
 * JSON bounds, than any that were meant. They must not stop the watch that all namespaces share. On
 * an API server of its own, where no other test's operator sees them.
 */
class OversizedObjectsIT {
  /** More than Jackson takes by itself, and less than the API server does. */
  private static final int DEEP = 8_000;

  private static final int LONG = 50_001;

  private static KubeApi.Running server;
  private static Installed cluster;

  @TempDir private Path folder;

  @BeforeAll
  static void startServer() {
    server = KubeApi.Running.start();
    cluster = Installed.on(server);
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @Test
  void whatIsTooLargeInOneNamespaceIsToldThereAndAllOthersAreServed() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("healthy"));
    PoolFixture hostile = new PoolFixture(cluster.admin(), cluster.namespace("hostile"));
    pool.createPool();
    try (OperatorProgram operator = start("first", pool)) {
      operator.awaitRunning(OperatorProgram.STARTS);
      pool.awaitPool("Ready", "False/RolloutInProgress");
      createPoolWithLongKey(hostile);
      createDeepPicker(hostile);
      awaitServed(pool, 8001);
      assertTold(hostile);
      assertThat(health(operator)).isEqualTo(200);
    }
    try (OperatorProgram operator = start("second", pool)) {
      operator.awaitRunning(OperatorProgram.STARTS);
      awaitServed(pool, 8002);
      assertTold(hostile);
      assertThat(health(operator)).isEqualTo(200);

      // What could not be looked at to its end is looked at again.
      cluster
          .admin()
          .resources(EndpointPicker.class)
          .inNamespace(hostile.namespace())
          .withName("deep")
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"scheduling\":null}}");
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(hostile.pickerConditions("deep"))
                      .containsEntry("Accepted", "True/Accepted"));
    }
  }

  private OperatorProgram start(String name, PoolFixture pool) {
    return OperatorProgram.start(
        name,
        server.kubeConfig(),
        pool.namespace(),
        folder,
        "--adopt-grace-seconds=0",
        "--leader-elect=false");
  }

  /** Its selector is in the config after an edit. */
  private static void awaitServed(PoolFixture pool, int port) {
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, POOL))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"targetPorts\":[{\"number\":%d}]}}".formatted(port));
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pool.config()).contains("- " + port));
  }

  private static void assertTold(PoolFixture hostile) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(hostile.poolConditions())
                    .containsEntry("Accepted", "False/InvalidSpec"));
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(hostile.pickerConditions("deep"))
                    .containsEntry("Ready", "False/InvalidSpec"));
  }

  private static void createPoolWithLongKey(PoolFixture in) {
    create(
        in,
        "/apis/inference.networking.k8s.io/v1/namespaces/%s/inferencepools",
        """
        {"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool", "metadata": {"name": "pool"},
         "spec": {"selector": {"matchLabels": {"%s": "x"}}, "targetPorts": [{"number": 8000}],
                  "endpointPickerRef": {"name": "long", "port": {"number": 9002}}}}
        """
            .formatted("k".repeat(LONG)));
  }

  private static void createDeepPicker(PoolFixture in) {
    in.createPool("deep", "deep");
    create(
        in,
        "/apis/fairlead.io/v1alpha1/namespaces/%s/endpointpickers",
        """
        {"apiVersion": "fairlead.io/v1alpha1", "kind": "EndpointPicker", "metadata": {"name": "deep"},
         "spec": {"poolRef": {"name": "deep"},
                  "scheduling": {"plugins": [{"type": "queue-scorer", "parameters": %s1%s}]}}}
        """
            .formatted("{\"a\":".repeat(DEEP), "}".repeat(DEEP)));
  }

  private static void create(PoolFixture in, String path, String json) {
    try {
      var _ = cluster.admin().raw(path.formatted(in.namespace()), "POST", json);
    } catch (KubernetesClientException e) {
      throw new AssertionError("the API server stores it no more: " + e.getMessage(), e);
    }
  }

  private static int health(OperatorProgram operator) {
    Matcher port = Pattern.compile("health and metrics on port (\\d+)").matcher(operator.log());
    assertThat(port.find()).isTrue();
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(
              HttpRequest.newBuilder(
                      URI.create("http://127.0.0.1:%s/healthz".formatted(port.group(1))))
                  .build(),
              BodyHandlers.discarding())
          .statusCode();
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
