package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bootstrap {@code config/envoy/fallbacks.yaml}: a real Envoy goes on to another endpoint by
 * itself, and tells who answered, as gateways do that implement the whole protocol.
 */
class EnvoyFallbackIT {
  private static final int REQUESTS = 60;

  private static final SchedulerConfig WITH_FALLBACKS =
      new SchedulerConfig(
          List.of(new PluginConfig("picker", "random-picker", Map.of("maxNumOfEndpoints", 2L))),
          List.of(),
          null);

  @TempDir private Path folder;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final TestPool pool = new TestPool(loops.next()).configured(WITH_FALLBACKS);
  private final RawBackend well = backend("well", 200, "{\"choices\":[]}");
  private final RawBackend ill = backend("ill", 503, "{\"error\":{\"message\":\"draining\"}}");
  private @Nullable ExtProcServer picker;
  private @Nullable Envoy envoy;

  private static RawBackend backend(String name, int status, String body) {
    try {
      return new RawBackend(
          name,
          (connection, request) ->
              connection.respond(status, "content-type: application/json\r\n", body));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void start(RawBackend... known) throws Exception {
    pool.endpoints(well.spec(), ill.spec());
    ExtProcServer started =
        ExtProcServer.start(
            new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.SelfSigned(), 1 << 20, false),
            pool.loop,
            BodyBudget.ofHeap(),
            loops,
            new Health());
    picker = started;
    envoy = Envoy.start(bootstrap(started.port(), known), folder);
  }

  @AfterEach
  void stop() throws IOException {
    if (envoy != null) {
      envoy.close();
    }
    if (picker != null) {
      picker.close();
    }
    well.close();
    ill.close();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void whoAnswersIsCountedAndWhoWasToIsSpared() throws Exception {
    start(well, ill);
    everyoneIsAnswered();
    assertThat(ill.requests).as("was tried").isNotEmpty();
    theIllOneIsKnown();
  }

  /** Its list of endpoints is older than the picker's, or its health checks say otherwise. */
  @Test
  void theSameOfOneThatEnvoyDoesNotEvenTry() throws Exception {
    start(well);
    everyoneIsAnswered();
    assertThat(ill.requests).isEmpty();
    theIllOneIsKnown();
  }

  private void everyoneIsAnswered() throws IOException {
    for (int i = 0; i < REQUESTS; i++) {
      assertThat(ask().status()).isEqualTo(200);
    }
    await().until(() -> pool.active() == 0);
    assertThat(pool.inFlight()).isZero();
  }

  private void theIllOneIsKnown() {
    assertThat(count("ended well COMPLETED")).isEqualTo(REQUESTS);
    assertThat(pool.events).doesNotContain("ended ill COMPLETED");
    assertThat(count("sent well again: PASSED_OVER")).isEqualTo(count("sent ill")).isPositive();
    assertThat(count("sent ill")).as("half of all without a word of Envoy").isLessThan(25);
    assertThat(failing("ill")).isGreaterThan(0.1);
    assertThat(failing("well")).isLessThan(0.05);
  }

  private double failing(String name) {
    return pool.loop.snapshot().syncUninterruptibly().getNow().stream()
        .filter(endpoint -> endpoint.name().equals(name))
        .map(EndpointSnapshot::health)
        .mapToDouble(EndpointSnapshot.Health::failing)
        .sum();
  }

  private long count(String event) {
    return pool.events.stream().filter(event::equals).count();
  }

  private RawHttp.Message ask() throws IOException {
    try (RawHttp client = RawHttp.connect(Objects.requireNonNull(envoy).url().getPort())) {
      String body = "{\"model\":\"chat\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
      client.send(
          String.join(
              "\r\n",
              "POST /v1/chat/completions HTTP/1.1",
              "Host: x",
              "Content-Type: application/json",
              "Content-Length: " + body.length(),
              "",
              body));
      return client.read();
    }
  }

  /** {@code config/envoy/fallbacks.yaml}, with addresses of this test. */
  private static String bootstrap(int picker, RawBackend... known) throws IOException {
    String host = "{address: 127.0.0.1, port_value: %d}";
    String servers =
        Stream.of(known)
            .map(server -> host.formatted(server.spec().port()))
            .collect(Collectors.joining("}}}, {endpoint: {address: {socket_address: "));
    return Files.readString(Path.of("../../config/envoy/fallbacks.yaml"))
        .replace("{address: 0.0.0.0, port_value: 8080}", host.formatted(0))
        .replace("port_value: 9901", "port_value: 0")
        .replace("{address: sample-epp.default.svc, port_value: 9002}", host.formatted(picker))
        .replace(
            """
                  - lb_endpoints:
                    - endpoint:
                        address:
                          socket_address: {address: sample-model-servers.default.svc, port_value: 8000}
            """,
            "      - lb_endpoints: [{endpoint: {address: {socket_address: " + servers + "}}}]\n");
  }
}
