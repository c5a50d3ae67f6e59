package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.TestPods;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What goes on changing on a real API server while the newest config can't be run. */
@ExtendWith(KubeApi.class)
class LastGoodIT {

  private static final String SCHEDULING =
      """
      apiVersion: inference.networking.x-k8s.io/v1alpha1
      kind: EndpointPickerConfig
      plugins: [{type: queue-scorer}]
      """;

  private final PickerNamespace own;
  private final KubernetesClient admin;

  LastGoodIT(KubeApi.Running api) throws Exception {
    own = new PickerNamespace(api, "last-good");
    admin = own.admin();
  }

  @BeforeEach
  void waitAsLongAsAnApiServerMayTake() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  @Test
  void rewritesCountUnderASchedulingThatBroke(@TempDir Path folder) throws Exception {
    pod("server", "vllm");
    var loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try (ModelServer stub =
        ModelServer.start(
            ModelServerConfig.builder("server", "chat-v2", "chat-v3", "chat-v4").instant().build(),
            loops)) {
      RewrittenPool pool = new RewrittenPool(own, URI.create(stub.url()).getPort());
      Path file = Files.writeString(folder.resolve("scheduling.yaml"), SCHEDULING);
      try (DataPlane dataPlane = start(file);
          Traffic traffic = new Traffic(dataPlane.gatewayPort().orElseThrow(), 1)) {
        dataPlane.ready().get(60, TimeUnit.SECONDS);
        RewrittenPool.awaitServedBy(traffic, "chat-v2");

        Files.writeString(file, SCHEDULING.replace("plugins", "plugs"));
        await().until(() -> message(dataPlane).contains("plugs"));
        pool.retarget("chat-v3");
        RewrittenPool.awaitServedBy(traffic, "chat-v3");
        assertThat(message(dataPlane)).contains("plugs");

        Files.writeString(file, SCHEDULING.replace("queue-scorer", "queue-scorrer"));
        await().until(() -> message(dataPlane).contains("queue-scorrer"));
        pool.retarget("chat-v4");
        RewrittenPool.awaitServedBy(traffic, "chat-v4");
        assertThat(message(dataPlane)).contains("queue-scorrer");

        Files.writeString(file, SCHEDULING);
        await().until(() -> message(dataPlane).isEmpty());
        RewrittenPool.awaitServedBy(traffic, "chat-v4");
      }
    } finally {
      loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
  }

  @Test
  void thePoolOfAConfigThatCouldNotBeAppliedIsServedUnderTheSchedulingBefore() {
    pod("a", "a");
    pod("b", "b");
    put(config("a", SchedulerConfig.DEFAULT));
    try (DataPlane dataPlane =
        DataPlane.start(
            DataPlaneConfig.builder(
                    new DataPlaneConfig.Kubernetes(
                        own.name(), PickerNamespace.PICKER, null, own::client))
                .loops(1)
                .gateway("127.0.0.1", 0)
                .build())) {
      awaitEndpoints(dataPlane, "a");

      var unwilling =
          new SchedulerConfig(
              List.of(new PluginConfig("unwilling", "unwilling-observer", Map.of())),
              List.of(),
              null);
      put(config("b", unwilling));
      await().until(() -> message(dataPlane).contains("could not be applied"));
      awaitEndpoints(dataPlane, "b");
      pod("b-2", "b");
      pod("a-2", "a");
      awaitEndpoints(dataPlane, "b", "b-2");
      await().until(() -> dataPlane.report().endpoints().matching() == 2);
      assertThat(message(dataPlane)).contains("could not be applied");

      put(config("b", SchedulerConfig.DEFAULT));
      awaitEndpoints(dataPlane, "b", "b-2");
      await().until(() -> message(dataPlane).isEmpty()); // told after the pool has them
    }
  }

  private DataPlane start(Path scheduling) {
    return DataPlane.start(
        DataPlaneConfig.builder(
                new ClusterPool(
                    own.name(),
                    new ClusterPool.OfPool("pool", InferencePool.GROUP),
                    new ClusterPool.InFile(scheduling),
                    null,
                    own::adminClient))
            .gateway("127.0.0.1", 0)
            .loops(1)
            .build());
  }

  private PoolConfig config(String app, SchedulerConfig scheduler) {
    return new PoolConfig(
        own.name(), "pool", Map.of("app", app), List.of(8000), "http", List.of(), scheduler);
  }

  private void put(PoolConfig config) {
    own.configure(ConfigDocument.write(config));
  }

  private void pod(String name, String app) {
    admin.resource(TestPods.named(name, own.name(), Map.of("app", app))).create();
    own.running(name, "127.0.0.1", true, 0);
  }

  private static String message(DataPlane dataPlane) {
    PickerReport.Refused refused = dataPlane.report().refused();
    return refused == null ? "" : refused.message();
  }

  private static void awaitEndpoints(DataPlane dataPlane, String... pods) {
    await()
        .untilAsserted(
            () ->
                assertThat(dataPlane.snapshot().get(30, TimeUnit.SECONDS))
                    .extracting(view -> view.state().name())
                    .extracting(name -> name.replace("-rank-0", ""))
                    .containsExactlyInAnyOrder(pods));
  }
}
