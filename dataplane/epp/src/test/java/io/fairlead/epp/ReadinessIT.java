package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The gateway, the admin port and the health port tell the same readiness. */
class ReadinessIT {

  private static final InetSocketAddress NOBODY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

  @TempDir Path folder;

  @Test
  void everyPortSaysTheSame() throws Exception {
    Resources resources = new Resources(folder).pool().model("Vital", "{name: a, weight: 1}");
    resources.endpoint("one", NOBODY, false);
    DataPlaneConfig config =
        DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
            .gateway("127.0.0.1", 0)
            .admin("127.0.0.1", 0)
            .health("127.0.0.1", 0)
            .loops(2)
            .build();
    try (HttpClient http = HttpClient.newHttpClient();
        DataPlane dataPlane = DataPlane.start(config)) {
      ManagedChannel health =
          NettyChannelBuilder.forAddress("127.0.0.1", dataPlane.healthPort().orElseThrow())
              .usePlaintext()
              .build();
      List<Integer> ports =
          List.of(dataPlane.gatewayPort().orElseThrow(), dataPlane.adminPort().orElseThrow());

      await().until(() -> dataPlane.notReady().startsWith("no config"));
      for (int port : ports) {
        assertThat(readyz(http, port)).isEqualTo(503);
      }
      assertThat(status(health)).isEqualTo(ServingStatus.NOT_SERVING);

      resources.model("Critical", "{name: a, weight: 1}");
      dataPlane.ready().get(20, TimeUnit.SECONDS);
      assertThat(dataPlane.report().endpoints().ready()).as("and none is needed").isZero();
      for (int port : ports) {
        assertThat(readyz(http, port)).isEqualTo(200);
      }
      assertThat(status(health)).isEqualTo(ServingStatus.SERVING);

      resources.endpoint("one", NOBODY, true);
      await().until(() -> dataPlane.report().endpoints().ready() == 1);
      resources.endpoint("one", NOBODY, false);
      await().until(() -> dataPlane.report().endpoints().ready() == 0);
      for (int port : ports) {
        assertThat(readyz(http, port)).as("a pool that lost its endpoints").isEqualTo(200);
      }
      assertThat(status(health)).isEqualTo(ServingStatus.SERVING);
      health.shutdownNow();
    }
  }

  @Test
  void itSaysInTheLogWhereRequestsMayComeOnceTheyMay() throws Exception {
    Resources resources = new Resources(folder).pool().model("Vital", "{name: a, weight: 1}");
    DataPlaneConfig config =
        DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
            .gateway("127.0.0.1", 0)
            .admin("127.0.0.1", 0)
            .loops(1)
            .build();
    Logger logger = (Logger) LoggerFactory.getLogger(DataPlane.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.setLevel(Level.INFO);
    logger.addAppender(log);
    try (DataPlane dataPlane = DataPlane.start(config)) {
      await().until(() -> dataPlane.notReady().startsWith("no config"));
      assertThat(log.list).as("before it is ready").isEmpty();

      resources.model("Critical", "{name: a, weight: 1}");
      await()
          .untilAsserted(
              () ->
                  assertThat(log.list)
                      .extracting(ILoggingEvent::getFormattedMessage)
                      .containsExactly(
                          "ready: gateway on 127.0.0.1:%d, metrics on 127.0.0.1:%d"
                              .formatted(
                                  dataPlane.gatewayPort().orElseThrow(),
                                  dataPlane.adminPort().orElseThrow())));
    } finally {
      logger.detachAppender(log);
      logger.setLevel(null);
    }
  }

  private static int readyz(HttpClient http, int port) throws Exception {
    return http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/readyz")).build(),
            HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  private static ServingStatus status(ManagedChannel health) {
    return HealthGrpc.newBlockingStub(health)
        .withDeadlineAfter(20, TimeUnit.SECONDS)
        .check(HealthCheckRequest.newBuilder().setService("inference-extension").build())
        .getStatus();
  }
}
