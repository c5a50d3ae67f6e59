package io.fairlead.epp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The data source of CONTRIBUTING.md, found by ServiceLoader: what it reads beside the model
 * servers decides where requests go, and its failure stops none.
 */
@ExtendWith(NoLeaks.class)
class DataSourceIT {

  @TempDir Path folder;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final ModelServer one = stub("one", "127.0.0.1");
  private final ModelServer two = stub("two", "127.0.0.2");
  private final AtomicReference<String> pageOfOne = new AtomicReference<>("");
  private final AtomicReference<String> pageOfTwo = new AtomicReference<>("");
  private HttpServer gpuOne;
  private HttpServer gpuTwo;
  private DataPlane dataPlane;

  private ModelServer stub(String name, String host) {
    return ModelServer.start(
        ModelServerConfig.builder(name, "a").listen(host, 0).instant().build(), stubLoops);
  }

  @BeforeEach
  void start() throws Exception {
    gpuOne = exporter("127.0.0.1", 0, pageOfOne);
    int port = gpuOne.getAddress().getPort();
    gpuTwo = exporter("127.0.0.2", port, pageOfTwo);
    Path endpoints =
        Files.writeString(
            folder.resolve("endpoints.yaml"),
            "endpoints:\n- {name: one, address: 127.0.0.1, port: %d}\n- {name: two, address: 127.0.0.2, port: %d}\n"
                .formatted(one.address().getPort(), two.address().getPort()));
    Path config =
        Files.writeString(
            folder.resolve("config.yaml"),
            """
            apiVersion: inference.networking.x-k8s.io/v1alpha1
            kind: EndpointPickerConfig
            plugins:
              - type: gpu-source
                parameters: {port: %d}
              - type: endpoint-attribute-scorer
                parameters:
                  attributeKey: GPUUtilization
                  algorithm: {type: linear_lower_is_better}
            dataLayer:
              sources: [{pluginRef: gpu-source}]
            schedulingProfiles:
              - name: default
                plugins: [{pluginRef: endpoint-attribute-scorer}]
            """
                .formatted(port));
    dataPlane =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, config))
                .gateway("127.0.0.1", 0)
                .admin("127.0.0.1", 0)
                .loops(1)
                .build());
    dataPlane.ready().get(20, TimeUnit.SECONDS);
  }

  @AfterEach
  void stop() {
    dataPlane.close();
    gpuOne.stop(0);
    gpuTwo.stop(0);
    one.close();
    two.close();
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    http.close();
  }

  @Test
  void requestsFollowWhatItReadsAndItsFailureStopsNone() throws Exception {
    pageOfOne.set(page(95));
    pageOfTwo.set(page(10));
    awaitAllGoTo("two");

    pageOfOne.set(page(5));
    awaitAllGoTo("one");

    pageOfOne.set("DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} no number\n");
    await().until(() -> failures() >= 1);
    assertThat(ask().statusCode()).isEqualTo(200);
  }

  private void awaitAllGoTo(String name) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              for (int i = 0; i < 10; i++) {
                assertThat(ask().headers().firstValue("x-stub-endpoint")).contains(name);
              }
            });
  }

  private static String page(int percent) {
    return """
    # HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %%).
    # TYPE DCGM_FI_DEV_GPU_UTIL gauge
    DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-0",modelName="NVIDIA H100"} 1
    DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-1",modelName="NVIDIA H100"} %d
    """
        .formatted(percent);
  }

  private double failures() throws IOException, InterruptedException {
    String name = "fairlead_data_source_failures_total ";
    return http.send(
            HttpRequest.newBuilder(uri(dataPlane.adminPort().orElseThrow(), "/metrics")).build(),
            HttpResponse.BodyHandlers.ofString())
        .body()
        .lines()
        .filter(line -> line.startsWith(name))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
        .findFirst()
        .orElseThrow();
  }

  private HttpResponse<String> ask() throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(uri(dataPlane.gatewayPort().orElseThrow(), "/v1/completions"))
            .timeout(Duration.ofSeconds(20))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"model\":\"a\",\"prompt\":\"p\"}"))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static URI uri(int port, String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  private static HttpServer exporter(String host, int port, AtomicReference<String> page)
      throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(host, port), 0);
    server.createContext(
        "/metrics",
        exchange -> {
          byte[] bytes = page.get().getBytes(UTF_8);
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    return server;
  }
}
