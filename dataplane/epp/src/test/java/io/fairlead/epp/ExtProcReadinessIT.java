package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.fairlead.epp.DataPlaneConfig.ExtProc;
import io.fairlead.epp.DataPlaneConfig.Listen;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The ext_proc port, gRPC health and {@code /readyz} say the same, from the start to the end. */
@ExtendWith(NoLeaks.class)
class ExtProcReadinessIT {

  private static final InetSocketAddress NOBODY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

  @TempDir Path folder;

  private final HttpClient http = HttpClient.newHttpClient();
  private Resources resources;

  @BeforeEach
  void writePool() throws IOException {
    resources = new Resources(folder).pool();
  }

  @AfterEach
  void close() {
    http.close();
  }

  @Test
  void nothingListensBeforeAConfigIsInForceAndNothingIsToldOtherwise() throws Exception {
    resources.model("Vital", "{name: a, weight: 1}");
    try (DataPlane dataPlane = DataPlane.start(config(0, Duration.ZERO))) {
      int port = dataPlane.extProcPort().orElseThrow();
      ManagedChannel health = channel(dataPlane.healthPort().orElseThrow());
      await().until(() -> dataPlane.notReady().startsWith("no config"));
      assertThat(listens(port)).isFalse();
      assertThat(status(health)).isEqualTo(ServingStatus.NOT_SERVING);
      assertThat(readyz(dataPlane)).isEqualTo(503);

      resources.model("Critical", "{name: a, weight: 1}");
      resources.endpoint("one", NOBODY, false);
      await().until(() -> status(health) == ServingStatus.SERVING);
      assertThat(listens(port)).as("with no endpoint, since nobody can know of one").isTrue();
      assertThat(readyz(dataPlane)).isEqualTo(200);
      ManagedChannel extProc = channel(port);
      assertThat(status(extProc)).as("told there, too").isEqualTo(ServingStatus.SERVING);
      extProc.shutdownNow();
      health.shutdownNow();
    }
  }

  @Test
  void theEndIsToldAtOnceAndNewRequestsAreTakenStill() throws Exception {
    resources.model("Critical", "{name: a, weight: 1}");
    DataPlane dataPlane = DataPlane.start(config(0, Duration.ofSeconds(20)));
    dataPlane.ready().get(20, TimeUnit.SECONDS);
    int port = dataPlane.extProcPort().orElseThrow();
    ManagedChannel health = channel(dataPlane.healthPort().orElseThrow());
    Thread closing = new Thread(dataPlane::close);
    closing.start();
    await().until(() -> status(health) == ServingStatus.NOT_SERVING);
    assertThat(readyz(dataPlane)).isEqualTo(503);
    assertThat(listens(port)).as("a lame duck").isTrue();
    closing.interrupt(); // no longer a lame duck
    closing.join();
    assertThat(listens(port)).isFalse();
    health.shutdownNow();
  }

  @Test
  void aPortThatIsTakenLaterIsTriedAgain() throws Exception {
    resources.model("Vital", "{name: a, weight: 1}");
    try (DataPlane dataPlane = DataPlane.start(config(0, Duration.ZERO))) {
      int port = dataPlane.extProcPort().orElseThrow();
      try (ServerSocket taken = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        resources.model("Critical", "{name: a, weight: 1}");
        await().until(() -> dataPlane.notReady().contains("can't listen on 127.0.0.1:" + port));
        assertThat(taken.isBound()).isTrue();
        assertThat(readyz(dataPlane)).isEqualTo(503);
      }
      CompletableFuture<Void> ready = dataPlane.ready();
      ready.get(20, TimeUnit.SECONDS);
      assertThat(listens(port)).isTrue();
    }
  }

  private DataPlaneConfig config(int port, Duration lameDuck) {
    return DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
        .extProc(new ExtProc(new Listen("127.0.0.1", port), false, null, 1 << 20, lameDuck, false))
        .admin("127.0.0.1", 0)
        .health("127.0.0.1", 0)
        .loops(2)
        .build();
  }

  private int readyz(DataPlane dataPlane) throws Exception {
    int port = dataPlane.adminPort().orElseThrow();
    return http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/readyz")).build(),
            HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  private static boolean listens(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  private static ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
  }

  private static ServingStatus status(ManagedChannel channel) {
    return HealthGrpc.newBlockingStub(channel)
        .withDeadlineAfter(20, TimeUnit.SECONDS)
        .check(
            HealthCheckRequest.newBuilder().setService(ExternalProcessorGrpc.SERVICE_NAME).build())
        .getStatus();
  }
}
