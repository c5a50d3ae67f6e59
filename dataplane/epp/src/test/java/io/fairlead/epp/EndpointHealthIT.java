package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.testing.FreePort;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.telemetry.HealthMeters;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A whole data plane tells who of its endpoints answers: in requests, status, metrics and log. */
@ExtendWith(NoLeaks.class)
class EndpointHealthIT {

  private static final JsonMapper JSON = new JsonMapper();
  private static final String POISON = "poison";

  @TempDir Path folder;

  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final HttpClient http = HttpClient.newHttpClient();
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    logger().setLevel(Level.INFO);
    logger().addAppender(log);
  }

  @AfterEach
  void stop() {
    logger().detachAppender(log);
    logger().setLevel(null);
    http.close();
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger(HealthMeters.class);
  }

  private ModelServer serve(String name, int port) {
    return ModelServer.start(
        ModelServerConfig.builder(name, "m").listen("127.0.0.1", port).instant().build(),
        stubLoops);
  }

  @Test
  void aServerThatIsReadyAndDoesNotListenIsToldAndComesBackWhenItDoes() throws Exception {
    int late = FreePort.find();
    try (ModelServer good = serve("good", 0)) {
      Path endpoints = folder.resolve("endpoints.yaml");
      Files.writeString(
          endpoints,
          "endpoints:\n- {name: good, address: 127.0.0.1, port: %d}\n- {name: late, address: 127.0.0.1, port: %d}\n"
              .formatted(good.address().getPort(), late));
      DataPlaneConfig config =
          DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, null))
              .gateway("127.0.0.1", 0)
              .admin("127.0.0.1", 0)
              .loops(2)
              .build();
      try (DataPlane dataPlane = DataPlane.start(config)) {
        dataPlane.ready().get(20, TimeUnit.SECONDS);
        int gateway = dataPlane.gatewayPort().orElseThrow();
        int admin = dataPlane.adminPort().orElseThrow();
        for (int i = 0; i < 60; i++) {
          assertThat(complete(gateway).statusCode()).isEqualTo(200);
        }
        await()
            .untilAsserted(
                () -> {
                  PickerReport.Endpoints told = dataPlane.report().endpoints();
                  assertThat(told.matching()).isEqualTo(2);
                  assertThat(told.ready()).isEqualTo(1);
                  assertThat(told.reason()).isNull();
                  assertThat(told.out())
                      .extracting(PickerReport.Out::name, PickerReport.Out::reason)
                      .containsExactly(tuple("late", "refuses connections"));
                });
        JsonNode one = status(admin, "late");
        assertThat(one.get("health").asText()).isEqualTo("out");
        assertThat(one.get("reason").asText()).isEqualTo("refuses connections");
        assertThat(one.get("since").asText()).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ");
        assertThat(one.get("scrapeAgeSeconds").isNull()).isTrue();
        assertThat(one.get("inFlight").asInt()).isZero();
        JsonNode other = status(admin, "good");
        assertThat(other.get("health").asText()).isEqualTo("in use");
        assertThat(other.get("scrapeAgeSeconds").asDouble()).isBetween(0.0, 20.0);
        await()
            .untilAsserted(
                () ->
                    assertThat(get(admin, "/metrics"))
                        .contains("fairlead_probes_total{result=\"refused\"}"));
        assertThat(get(admin, "/metrics"))
            .contains(
                "fairlead_endpoint_health{endpoint=\"late\",state=\"out\"} 1\n",
                "fairlead_endpoint_health{endpoint=\"good\",state=\"in_use\"} 1\n",
                "fairlead_endpoint_health_transitions_total{reason=\"refuses connections\",to=\"out\"}",
                "fairlead_pool_endpoints_ready 1.0",
                "fairlead_pool_replicas 1.0");
        assertThat(lines(Level.WARN)).containsExactly("late is out: it refuses connections");

        try (ModelServer back = serve("late", late)) {
          await()
              .untilAsserted(
                  () -> {
                    complete(gateway);
                    assertThat(status(admin, "late").get("health").asText()).isEqualTo("in use");
                    // The status may be seen before a request has come there.
                    assertThat(back.stats().completed()).isPositive();
                  });
          await().until(() -> dataPlane.report().endpoints().ready() == 2);
          assertThat(lines(Level.INFO))
              .hasSize(1)
              .first()
              .asString()
              .startsWith("late is in use again: it ");
        }
      }
    }
  }

  /** As where an image can't be fetched: it says nothing of servers that serve all else. */
  @Test
  void aRequestThatEachServerFailsTakesNoneAway() throws Exception {
    try (RawBackend a = new RawBackend("a", EndpointHealthIT::serveAllButPoison);
        RawBackend b = new RawBackend("b", EndpointHealthIT::serveAllButPoison)) {
      Path endpoints = folder.resolve("endpoints.yaml");
      Files.writeString(
          endpoints,
          "endpoints:\n- {name: a, address: 127.0.0.1, port: %d}\n- {name: b, address: 127.0.0.1, port: %d}\n"
              .formatted(a.spec().port(), b.spec().port()));
      DataPlaneConfig config =
          DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, null))
              .gateway("127.0.0.1", 0)
              .loops(1)
              .build();
      try (DataPlane dataPlane = DataPlane.start(config)) {
        dataPlane.ready().get(20, TimeUnit.SECONDS);
        int gateway = dataPlane.gatewayPort().orElseThrow();
        // Each goes to both, what is well to one by lot: three in a row have failed each again and
        // again, and ten hardly ever.
        for (int i = 0; i < 200; i++) {
          assertThat(complete(gateway, "p").statusCode()).isEqualTo(200);
          assertThat(complete(gateway, "q").statusCode()).isEqualTo(200);
          assertThat(complete(gateway, POISON).statusCode()).isEqualTo(500);
        }
        assertThat(lines(Level.WARN)).isEmpty();
        assertThat(dataPlane.report().endpoints().out()).isEmpty();
        assertThat(a.requests).hasSizeGreaterThan(100);
        assertThat(b.requests).hasSizeGreaterThan(100);
      }
    }
  }

  private static void serveAllButPoison(RawHttp connection, RawHttp.Message request)
      throws IOException {
    if (request.start().startsWith("GET")) {
      connection.respond(404, "", "");
    } else if (request.text().contains(POISON)) {
      connection.respond(500, "", "{\"error\":{\"message\":\"can't be fetched\",\"code\":500}}");
    } else {
      connection.respond(
          200,
          "",
          "{\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":\"stop\"}],"
              + "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1,\"total_tokens\":2}}");
    }
  }

  private List<String> lines(Level level) {
    return List.copyOf(log.list).stream()
        .filter(event -> event.getLevel().equals(level))
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }

  private JsonNode status(int admin, String endpoint) throws IOException, InterruptedException {
    JsonNode page = JSON.readTree(get(admin, "/debug/status"));
    return StreamSupport.stream(page.get("endpointList").spliterator(), false)
        .filter(one -> one.get("name").asText().equals(endpoint))
        .findFirst()
        .orElseThrow();
  }

  private String get(int port, String path) throws IOException, InterruptedException {
    return http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  private HttpResponse<String> complete(int port) throws IOException, InterruptedException {
    return complete(port, "p");
  }

  private HttpResponse<String> complete(int port, String prompt)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
            .timeout(Duration.ofSeconds(20))
            .header("content-type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"model\":\"m\",\"prompt\":\"%s\",\"max_tokens\":1}".formatted(prompt)))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }
}
