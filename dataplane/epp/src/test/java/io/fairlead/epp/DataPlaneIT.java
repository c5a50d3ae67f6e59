package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.sockets.ClosedPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataPlaneIT {

  private static final String POOL =
      """
      apiVersion: inference.networking.k8s.io/v1
      kind: InferencePool
      metadata: {name: pool, namespace: default}
      spec:
        selector: {matchLabels: {app: stub}}
        targetPorts: [{number: 8000}]
        endpointPickerRef: {name: pool-epp, port: {number: 9002}}
      """;

  private static final String MODEL =
      """
      apiVersion: inference.networking.x-k8s.io/v1alpha2
      kind: InferenceModel
      metadata: {name: chat, namespace: default}
      spec:
        modelName: chat
        criticality: Critical
        poolRef: {name: pool}
        targetModels: [{name: a, weight: 1}]
      """;

  @TempDir Path folder;

  private final HttpClient http = HttpClient.newHttpClient();
  private HttpServer engine;

  @BeforeEach
  void startEngine() throws IOException {
    engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    byte[] page =
        "vllm:num_requests_waiting{engine=\"0\"} 3.0\nvllm:kv_cache_usage_perc 0.25\n"
            .getBytes(StandardCharsets.UTF_8);
    engine.createContext(
        "/metrics",
        exchange -> {
          try (exchange) {
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
          }
        });
    engine.start();
  }

  @AfterEach
  void stopEngine() {
    engine.stop(0);
    http.close();
  }

  @Test
  void runsAFileOfEndpointsAndTellsAboutIt() throws Exception {
    write("endpoints.yaml", endpoints(engine.getAddress().getPort()));
    var source = new DataPlaneConfig.Files(folder.resolve("endpoints.yaml"), null);
    DataPlaneConfig config =
        DataPlaneConfig.builder(source)
            .admin("127.0.0.1", 0)
            .health("127.0.0.1", 0)
            .loops(1)
            .build();
    assertThat(DataPlane.describe(config)).contains("endpoint   a 127.0.0.1");
    int port;
    try (DataPlane dataPlane = DataPlane.start(config)) {
      port = dataPlane.adminPort().orElseThrow();
      dataPlane.ready().get(20, TimeUnit.SECONDS);
      assertThat(dataPlane.report().endpoints().matching()).as("counted by then").isEqualTo(1);
      assertThat(get(port, "/readyz").statusCode()).isEqualTo(200);
      assertThat(dataPlane.healthPort()).isPresent();
      await()
          .untilAsserted(
              () ->
                  assertThat(get(port, "/metrics").body())
                      .contains("fairlead_endpoint_queue{endpoint=\"a\"} 3\n")
                      .contains("fairlead_endpoint_kv_usage{endpoint=\"a\"} 0.250000\n"));
      assertThat(get(port, "/metrics").body())
          .contains("fairlead_config_reloads_total{result=\"applied\"} 1.0")
          .contains("fairlead_config_info{hash=\"" + dataPlane.report().configHash() + "\"} 1")
          .contains("fairlead_scheduling_latency_seconds_bucket{le=\"1.0E-6\"}")
          .contains("fairlead_scrape_failures_total")
          .contains("fairlead_build_info{");
      assertThat(PickerReport.fromJson(get(port, "/debug/status").body()))
          .contains(dataPlane.report());
      assertThat(dataPlane.snapshot().get(30, TimeUnit.SECONDS))
          .extracting(view -> view.state().name())
          .containsExactly("a");
      assertThat(get(port, "/nothing").statusCode()).isEqualTo(404);
    }
    assertThatThrownBy(() -> get(port, "/readyz")).isInstanceOf(IOException.class);
  }

  @Test
  void aBrokenEditKeepsTheLastGoodStateAndSaysWhatIsWrong() throws Exception {
    write("pool.yaml", POOL);
    write("model.yaml", MODEL);
    write("endpoints.yaml", endpoints(engine.getAddress().getPort()));
    DataPlaneConfig config =
        DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
            .admin("127.0.0.1", 0)
            .loops(1)
            .build();
    try (DataPlane dataPlane = DataPlane.start(config)) {
      dataPlane.ready().get(20, TimeUnit.SECONDS);
      PickerReport good = dataPlane.report();
      assertThat(good.pool()).isEqualTo("default/pool");

      write("model.yaml", MODEL.replace("weight: 1", "weight: 0"));
      await().until(() -> dataPlane.report().refused() != null);
      assertThat(Objects.requireNonNull(dataPlane.report().refused()).message())
          .contains("model.yaml")
          .contains("spec.targetModels[0].weight");
      assertThat(dataPlane.report().configHash()).isEqualTo(good.configHash());
      assertThat(dataPlane.notReady()).isEmpty();
      assertThatThrownBy(() -> DataPlane.describe(config))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("spec.targetModels[0].weight");

      write("model.yaml", MODEL);
      await().until(() -> dataPlane.report().refused() == null);
      assertThat(dataPlane.report().configHash()).isEqualTo(good.configHash());

      write("model.yaml", MODEL.replace("weight: 1", "weight: 2"));
      await().until(() -> !Objects.equals(dataPlane.report().configHash(), good.configHash()));
      assertThat(dataPlane.report().refused()).isNull();
      assertThat(dataPlane.report().generation()).isEqualTo(good.generation() + 1);
    }
  }

  @Test
  void saysThatNoEndpointListens() throws Exception {
    try (ClosedPort nobody = new ClosedPort()) {
      write("endpoints.yaml", endpoints(nobody.number()));
      var source = new DataPlaneConfig.Files(folder.resolve("endpoints.yaml"), null);
      try (DataPlane dataPlane =
          DataPlane.start(DataPlaneConfig.builder(source).loops(1).build())) {
        await().until(() -> "PortNotServed".equals(dataPlane.report().endpoints().reason()));
      }
    }
  }

  @Test
  void aPortInUseIsNamedAndNothingStaysBehind() throws Exception {
    write("endpoints.yaml", endpoints(1));
    var source = new DataPlaneConfig.Files(folder.resolve("endpoints.yaml"), null);
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      DataPlaneConfig config =
          DataPlaneConfig.builder(source).admin("127.0.0.1", taken.getLocalPort()).build();
      assertThatThrownBy(() -> DataPlane.start(config))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("127.0.0.1:" + taken.getLocalPort());
    }
    await()
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().startsWith("fairlead-")));
  }

  private HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** As editors do: a new file takes the name over. */
  private void write(String name, String text) throws IOException {
    Path temporary = Files.writeString(folder.resolve(name + ".tmp"), text);
    Files.move(temporary, folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
  }

  private static String endpoints(int port) {
    return "endpoints: [{name: a, address: 127.0.0.1, port: " + port + "}]\n";
  }
}
