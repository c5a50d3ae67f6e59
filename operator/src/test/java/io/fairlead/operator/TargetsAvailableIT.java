package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.testing.FreePort;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A model whose target no model server knows, as its conditions tell of it: the operator, a picker
 * with its gateway, and two model servers that load adapters on demand, all real.
 */
@ExtendWith(KubeApi.class)
@Makes({Reason.NOT_REPORTED, Reason.TARGET_MODEL_NOT_SERVED, Reason.TARGETS_SERVED})
class TargetsAvailableIT {

  private static final String TARGETS = "TargetsAvailable";
  private static final List<String> ADDRESSES = List.of("127.0.0.21", "127.0.0.22");

  private static Installed cluster;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final HttpClient http = HttpClient.newHttpClient();
  private int port;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @AfterEach
  void stop() {
    http.close();
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void aModelTellsWhichOfItsTargetsNobodyServes() throws Exception {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("targets"));
    port = FreePort.find();
    try (ModelServer _ = serve(ADDRESSES.get(0));
        ModelServer _ = serve(ADDRESSES.get(1));
        OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.createPoolAt(port);
      model(pool, "chat", "chat-v1");
      model(pool, "misspelt", "chat-v11");
      for (String address : ADDRESSES) {
        pool.createModelServer("server-" + ADDRESSES.indexOf(address), address);
      }
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.becomeAvailable();
      try (Picker picker = Picker.gateway(cluster, pool)) {
        pool.awaitModel("chat", TARGETS, "Unknown/NotReported");
        pool.awaitModel("misspelt", TARGETS, "Unknown/NotReported");
        await().until(() -> picker.report().endpoints().ready() == 2);

        assertThat(ask(picker, "/v1/completions", "chat")).isEqualTo(200);
        pool.awaitModel("chat", TARGETS, "True/TargetsServed");
        for (int i = 0; i < 20; i++) {
          assertThat(ask(picker, "/v1/rerank", "chat")).as("the servers lack it").isEqualTo(404);
          assertThat(ask(picker, "/v1/rerank", "misspelt")).isEqualTo(404);
        }
        assertThat(ask(picker, "/v1/completions", "chat")).isEqualTo(200);
        // It is looked at once a second, and reported then.
        await()
            .during(Duration.ofSeconds(3))
            .atMost(Duration.ofSeconds(30))
            .until(() -> notServed(picker).isEmpty());

        for (int i = 0; notServed(picker).isEmpty(); i++) {
          assertThat(i).as("requests that were not enough").isLessThan(10_000);
          assertThat(ask(picker, "/v1/completions", "misspelt")).isEqualTo(404);
        }
        // While one of the two is out for a moment, the other alone tells.
        assertThat(notServed(picker))
            .extracting(PickerReport.NotServed::name)
            .containsExactly("chat-v11");
        pool.awaitModel("misspelt", TARGETS, "False/TargetModelNotServed");
        assertThat(pool.modelMessage("misspelt", TARGETS))
            .startsWith("No endpoint serves target chat-v11 (")
            .endsWith(
                "and none has served it since), so that requests for it fail; correct spec.targetModels, or have the pool's model servers load that model or adapter");
        assertThat(pool.modelConditions("misspelt"))
            .containsEntry("Ready", "True/Ready")
            .doesNotContainKeys("Reconciling", "Stalled");
        assertThat(pool.modelMessage("misspelt", "Ready")).contains("condition TargetsAvailable");
        awaitEvent(pool, "Warning TargetModelNotServed");
        assertThat(pool.modelConditions("chat")).containsEntry(TARGETS, "True/TargetsServed");

        for (String address : ADDRESSES) {
          load(address, "chat-v11");
        }
        assertThat(ask(picker, "/v1/completions", "misspelt")).isEqualTo(200);
        pool.awaitModel("misspelt", TARGETS, "True/TargetsServed");
        awaitEvent(pool, "Normal TargetsServed");
        assertThat(pool.modelMessage("misspelt", "Ready"))
            .isEqualTo("Requests for the model are served");
        assertThat(events(pool)).as("what is well from the beginning is not told").hasSize(2);
      }
    }
  }

  private static void awaitEvent(PoolFixture pool, String event) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(events(pool)).contains("misspelt " + event));
  }

  private static List<String> events(PoolFixture pool) {
    return pool.all(Event.class).stream()
        .filter(event -> event.getReason().startsWith("Target"))
        .map(
            event ->
                "%s %s %s"
                    .formatted(
                        event.getInvolvedObject().getName(), event.getType(), event.getReason()))
        .toList();
  }

  private static List<PickerReport.NotServed> notServed(Picker picker) {
    PickerReport.Targets targets = picker.report().targets();
    return targets == null ? List.of() : targets.notServed();
  }

  private ModelServer serve(String address) {
    return ModelServer.start(
        ModelServerConfig.builder(address, "base", "chat-v1")
            .maxAdapters(4)
            .listen(address, port)
            .instant()
            .build(),
        loops);
  }

  private static void model(PoolFixture pool, String name, String target) {
    pool.create(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: %1$s}
        spec:
          modelName: %1$s
          poolRef: {group: inference.networking.k8s.io, name: pool}
          targetModels: [{name: %2$s}]
        """
            .formatted(name, target));
  }

  private int ask(Picker picker, String path, String model)
      throws IOException, InterruptedException {
    return post(
        "http://127.0.0.1:" + picker.gatewayPort() + path,
        "{\"model\":\"%s\",\"prompt\":\"hi\",\"max_tokens\":1}".formatted(model));
  }

  private void load(String address, String adapter) throws IOException, InterruptedException {
    assertThat(
            post(
                "http://" + address + ":" + port + "/v1/load_lora_adapter",
                "{\"lora_name\":\"%s\",\"lora_path\":\"/x\"}".formatted(adapter)))
        .isEqualTo(200);
  }

  private int post(String uri, String json) throws IOException, InterruptedException {
    return http.send(
            HttpRequest.newBuilder(URI.create(uri))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .build(),
            HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }
}
