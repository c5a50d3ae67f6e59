package io.fairlead.epp.datalayer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolCore;
import io.fairlead.core.scheduling.EngineMetrics;
import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.plugin.DataSource.Target;
import io.fairlead.stub.profile.EngineProfiles;
import io.fairlead.stub.server.EngineKind;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A server that tells of tokens as SGLang does, its pages as they are read, and the core. */
class SglangPagesIT {

  private static final long SECOND = 1_000_000_000;
  private static final String LABEL = "inference.networking.k8s.io/engine-type";
  private static final EndpointSpec ENDPOINT =
      new EndpointSpec("e", "1", "127.0.0.1", 8000, Map.of(LABEL, "sglang"));

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final ModelServer server =
      ModelServer.start(
          ModelServerConfig.builder("e", "m")
              .engine(EngineKind.SGLANG)
              .profile(EngineProfiles.shipped().named("h100-8b"))
              .build(),
          loops);
  private final HttpClient http = HttpClient.newHttpClient();
  private final PoolCore core = new PoolCore();
  private String page = "";

  @AfterEach
  void stop() {
    server.close();
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + server.address().getPort() + path));
  }

  private String metrics() throws Exception {
    return http.send(request("/metrics").build(), BodyHandlers.ofString()).body();
  }

  /**
   * Its counters stand still until the first is over, and its usage is told to one in a hundred.
   */
  @Test
  void oneThatWorksOnLongAnswersIsNotTakenToStandStill() {
    core.endpoints(0, List.of(ENDPOINT));
    for (int i = 0; i < 4; i++) {
      var _ =
          http.sendAsync(
              request("/v1/completions")
                  .header("content-type", "application/json")
                  .POST(
                      HttpRequest.BodyPublishers.ofString(
                          "{\"model\":\"m\",\"prompt\":\"a long one\",\"max_tokens\":6000}"))
                  .build(),
              BodyHandlers.ofString());
    }
    await().until(() -> server.stats().running() == 4);

    for (int i = 1; i <= 8; i++) {
      String before = page;
      await()
          .until(
              () -> {
                page = metrics();
                return !page.equals(before);
              });
      EndpointReadings readings = new EndpointReadings();
      new EnginePages(MetricsSource.DEFAULT, List.of(EngineMetrics.DEFAULT))
          .read(new Target("e", "127.0.0.1", 8000, ENDPOINT.labels()), page, readings);
      assertThat(readings.metrics().progress()).as("no request is over").isZero();
      core.scraped(i * SECOND, ENDPOINT, i * SECOND, readings.metrics());
    }
    assertThat(core.snapshot().getFirst().kvUsage()).isNotNaN();
  }
}
