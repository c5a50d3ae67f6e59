package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What SIGTERM does: {@link DataPlane#close} while a response streams. */
@ExtendWith(NoLeaks.class)
class DrainIT {

  @TempDir Path folder;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final CountDownLatch goOn = new CountDownLatch(1);
  private HttpServer engine;

  @BeforeEach
  void startEngine() throws IOException {
    engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    engine.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    engine.createContext(
        "/v1/completions",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.getResponseHeaders().set("content-type", "text/event-stream");
          exchange.sendResponseHeaders(200, 0);
          exchange.getResponseBody().write("data: before\n\n".getBytes(StandardCharsets.UTF_8));
          exchange.getResponseBody().flush();
          try {
            goOn.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          exchange.getResponseBody().write("data: after\n\n".getBytes(StandardCharsets.UTF_8));
          exchange.close();
        });
    engine.start();
    new Resources(folder)
        .write(
            "endpoints.yaml",
            "endpoints: [{name: a, address: 127.0.0.1, port: %d}]\n"
                .formatted(engine.getAddress().getPort()));
  }

  @AfterEach
  void stopEngine() {
    goOn.countDown();
    engine.stop(0);
    http.shutdownNow();
  }

  @Test
  void finishesTheStreamRefusesNewOnesAndIsNotReadyMeanwhile() throws Exception {
    DataPlane dataPlane = start(Duration.ofSeconds(30));
    int gateway = dataPlane.gatewayPort().orElseThrow();
    int admin = dataPlane.adminPort().orElseThrow();
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", dataPlane.healthPort().orElseThrow())
            .usePlaintext()
            .build();
    assertThat(health(channel)).isEqualTo(ServingStatus.SERVING);
    try (BufferedReader stream = stream(gateway)) {
      assertThat(stream.readLine()).isEqualTo("data: before");

      CompletableFuture<Boolean> closed = CompletableFuture.supplyAsync(dataPlane::drain);
      await().until(() -> refuses(gateway));

      assertThat(dataPlane.notReady()).isEqualTo("draining");
      assertThat(get(admin, "/readyz").statusCode()).isEqualTo(503);
      assertThat(get(admin, "/readyz").body()).isEqualTo("draining\n");
      assertThat(get(admin, "/healthz").statusCode()).isEqualTo(200);
      assertThat(get(admin, "/metrics").body())
          .contains("fairlead_endpoint_in_flight{endpoint=\"a\"} 1\n");
      assertThat(health(channel)).isEqualTo(ServingStatus.NOT_SERVING);
      assertThat(closed).isNotDone();

      goOn.countDown();
      assertThat(stream.lines()).containsExactly("", "data: after", "");
      assertThat(closed.get(20, TimeUnit.SECONDS)).as("all finished").isTrue();
    }
    channel.shutdownNow();
    dataPlane.close(); // once more is no harm
    assertThat(refuses(admin)).isTrue();
  }

  @Test
  void cutsWhatIsLeftAtTheBound() throws Exception {
    DataPlane dataPlane = start(Duration.ofMillis(300));
    try (BufferedReader stream = stream(dataPlane.gatewayPort().orElseThrow())) {
      assertThat(stream.readLine()).isEqualTo("data: before");
      assertThat(CompletableFuture.supplyAsync(dataPlane::drain).get(20, TimeUnit.SECONDS))
          .as("all finished")
          .isFalse();
      assertThatThrownBy(
              () -> {
                while (stream.readLine() != null) {
                  // what had arrived before
                }
              })
          .as("the client must not take the answer for whole")
          .isInstanceOf(IOException.class);
    }
  }

  private DataPlane start(Duration drain) throws Exception {
    var source = new DataPlaneConfig.Files(folder.resolve("endpoints.yaml"), null);
    DataPlane dataPlane =
        DataPlane.start(
            DataPlaneConfig.builder(source)
                .gateway("127.0.0.1", 0)
                .health("127.0.0.1", 0)
                .admin("127.0.0.1", 0)
                .drain(drain)
                .loops(2)
                .build());
    dataPlane.ready().get(20, TimeUnit.SECONDS);
    return dataPlane;
  }

  private BufferedReader stream(int port) throws Exception {
    HttpResponse<InputStream> response =
        http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
                .header("content-type", "application/json")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"model\":\"m\",\"prompt\":\"p\",\"stream\":true}"))
                .build(),
            HttpResponse.BodyHandlers.ofInputStream());
    assertThat(response.statusCode()).isEqualTo(200);
    return new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
  }

  private HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(20))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static boolean refuses(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return !socket.isConnected();
    } catch (IOException e) {
      return true;
    }
  }

  private static ServingStatus health(ManagedChannel channel) {
    return HealthGrpc.newBlockingStub(channel)
        .withDeadlineAfter(20, TimeUnit.SECONDS)
        .check(HealthCheckRequest.newBuilder().setService("inference-extension").build())
        .getStatus();
  }
}
