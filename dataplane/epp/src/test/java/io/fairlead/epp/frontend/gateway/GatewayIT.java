package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolCore;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.ClosedPort;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NoLeaks.class)
class GatewayIT {

  private static final String CHAT = "/v1/chat/completions";
  private static final String BODY =
      "{\"model\":\"chat\",\"seed\":9007199254740993,\"messages\":[{\"role\":\"user\",\"content\":\"h\u00e9\"}]}";
  private static final String STREAMED = BODY.replace("\"seed\"", "\"stream\":true,\"seed\"");
  private static final String USAGE = "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}";
  private static final String STREAM_HEAD =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  private static final int LIMIT = 1 << 20;

  private final EventLoopGroup group = Transport.group("test", 2);
  private final EventLoopGroup poolGroup = Transport.group("test", 1);
  private final Queue<String> events = new ConcurrentLinkedQueue<>();
  private final Queue<String> answers = new ConcurrentLinkedQueue<>();
  private final List<RawBackend> backends = new ArrayList<>();
  private final PoolCore core = new PoolCore();
  private final PoolLoop pool =
      new PoolLoop(core, poolGroup.next(), System::nanoTime, new EventLog(events, answers));
  private final AtomicLong seeds = new AtomicLong(1);
  private final AtomicBoolean ready = new AtomicBoolean(true);
  private final Gateway gateway =
      Gateway.start(
          GatewayConfig.on("127.0.0.1", 0).withMaxBodyBytes(LIMIT),
          pool,
          BodyBudget.ofHeap(),
          group,
          ready::get,
          () -> List.of(model("chat"), model("other")),
          seeds::incrementAndGet);

  private static ModelConfig model(String name) {
    return new ModelConfig(name, Criticality.STANDARD, List.of());
  }

  @AfterEach
  void stop() throws Exception {
    gateway.drain(Duration.ZERO, Duration.ZERO).syncUninterruptibly();
    await().untilAsserted(() -> assertThat(pool.active().get()).isZero());
    for (RawBackend backend : backends) {
      backend.close();
    }
    group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    poolGroup.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  private RawBackend backend(String name, RawBackend.Script script) throws IOException {
    RawBackend backend = new RawBackend(name, script);
    backends.add(backend);
    return backend;
  }

  private void serve(RawBackend... of) {
    use(Arrays.stream(of).map(RawBackend::spec).toList());
  }

  private void use(List<EndpointSpec> endpoints) {
    PoolConfig config =
        new PoolConfig(
            "default",
            "pool",
            Map.of("app", "vllm"),
            List.of(8000),
            "http",
            List.of(
                new ModelConfig(
                    "chat", Criticality.CRITICAL, List.of(new TargetModel("llama-\"8b\"", 1)))),
            SchedulerConfig.DEFAULT);
    pool.configure(new ConfigCompiler(List.of()).compile(config)).syncUninterruptibly();
    pool.endpoints(endpoints).syncUninterruptibly();
  }

  private RawHttp connect() throws IOException {
    return RawHttp.connect(gateway.port());
  }

  /** Streams an answer, the second half once the test lets it. */
  private static RawBackend.Script inTwoPieces(CountDownLatch goOn) {
    return (connection, request) -> {
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      connection.chunk("before");
      goOn.await();
      connection.chunk("after");
      connection.chunk("");
    };
  }

  private static void ok(RawHttp connection, RawHttp.Message request) throws IOException {
    connection.respond(200, "Content-Type: application/json\r\n", USAGE);
  }

  private void awaitEvents(String... expected) {
    await().untilAsserted(() -> assertThat(events).containsExactly(expected));
  }

  @Test
  void answersNameTheModelThatWasAskedFor() throws Exception {
    String target = "\"llama-\\\"8b\\\"\"";
    String whole = "{\"id\":\"1\",\"model\":" + target + ",\"choices\":[]}";
    String event =
        "data: {\"id\":\"1\",\"model\":" + target + ",\"choices\":[{\"text\":\"model\"}]}\n\n";
    serve(
        backend(
            "a",
            (connection, request) -> {
              if (request.text().contains("\"stream\":true")) {
                connection.send(STREAM_HEAD);
                connection.chunk(event);
                connection.chunk(event.substring(0, 30));
                connection.chunk(event.substring(30));
                connection.chunk("");
              } else {
                connection.respond(200, "Content-Type: application/json\r\n", whole);
              }
            }));
    try (RawHttp client = connect()) {
      client.post(CHAT, BODY);
      assertThat(client.read().text()).isEqualTo(whole.replace(target, "\"chat\""));
      client.post(CHAT, STREAMED);
      assertThat(client.read().text()).isEqualTo((event + event).replace(target, "\"chat\""));
    }
    int wholeBytes = whole.replace(target, "\"chat\"").length();
    int streamedBytes = 2 * event.replace(target, "\"chat\"").length();
    await()
        .untilAsserted(
            () ->
                assertThat(answers)
                    .containsExactly(
                        wholeBytes + " bytes, 0 events", streamedBytes + " bytes, 2 events"));
  }

  @Test
  void proxiesWithTheModelSplicedAndNothingElseChanged() throws Exception {
    RawBackend backend = backend("a", GatewayIT::ok);
    serve(backend);
    try (RawHttp client = connect()) {
      client.send(
          "POST /v1/chat/completions?trace=1 HTTP/1.1\r\nHost: h\r\nContent-Type: application/json; charset=UTF-8\r\nConnection: x-drop\r\nx-drop: 1\r\nx-gateway-destination-endpoint: 1.2.3.4:1\r\nx-fairlead-y: 1\r\nAuthorization: Bearer t\r\nX-Request-Id: id-7\r\nContent-Length: "
              + BODY.getBytes(StandardCharsets.UTF_8).length
              + "\r\n\r\n"
              + BODY);
      RawHttp.Message response = client.read();

      assertThat(response.status()).isEqualTo(200);
      assertThat(response.text()).isEqualTo(USAGE);
      assertThat(response.header("x-request-id")).isEqualTo("id-7");
    }
    RawHttp.Message seen = backend.requests.remove();
    assertThat(seen.start()).isEqualTo("POST /v1/chat/completions?trace=1 HTTP/1.1");
    assertThat(seen.text()).isEqualTo(BODY.replace("\"chat\"", "\"llama-\\\"8b\\\"\""));
    assertThat(seen.headers())
        .containsEntry("Authorization", "Bearer t")
        .containsEntry("X-Request-Id", "id-7")
        .containsEntry("Host", "h")
        .doesNotContainKeys(
            "x-drop", "x-gateway-destination-endpoint", "x-fairlead-y", "Connection");
    awaitEvents("sent chat a 1", "ended completed 3/4");
  }

  @Test
  void streamsInOrderAsItComes() throws Exception {
    CountDownLatch firstSeen = new CountDownLatch(1);
    serve(
        backend(
            "a",
            (connection, request) -> {
              connection.send(
                  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.chunk("data: {\"n\":0}\n\n");
              firstSeen.await();
              for (int i = 1; i < 50; i++) {
                connection.chunk("data: {\"n\":" + i + "}\n\n");
              }
              connection.chunk("data: " + USAGE.substring(0, 20));
              connection.chunk(USAGE.substring(20) + "\n\ndata: [DONE]\n\n");
              connection.send("0\r\n\r\n");
            }));
    try (RawHttp client = connect()) {
      client.post(CHAT, BODY);
      assertThat(client.readHead().header("content-type")).isEqualTo("text/event-stream");
      assertThat(client.readChunk()).isEqualTo("data: {\"n\":0}\n\n");
      firstSeen.countDown();
      StringBuilder rest = new StringBuilder();
      for (String chunk = client.readChunk(); !chunk.isEmpty(); chunk = client.readChunk()) {
        rest.append(chunk);
      }
      assertThat(rest).contains("\"n\":49}\n\ndata: " + USAGE).endsWith("[DONE]\n\n");
      client.post(CHAT, BODY);
      assertThat(client.readHead().status()).isEqualTo(200);
    }
    await().untilAsserted(() -> assertThat(events).contains("ended completed 3/4"));
  }

  @Test
  void retriesOnTheNextEndpointWhenOneRefuses() throws Exception {
    RawBackend good = backend("good", GatewayIT::ok);
    try (ClosedPort refused = new ClosedPort();
        RawHttp client = connect()) {
      use(
          List.of(
              new EndpointSpec("refuses", "1", "127.0.0.1", refused.number(), Map.of()),
              good.spec()));
      for (int i = 0; i < 20; i++) {
        client.post(CHAT, BODY);
        assertThat(client.read().status()).isEqualTo(200);
      }
    }
    assertThat(good.requests).hasSize(20);
    await().untilAsserted(() -> assertThat(events).contains("sent chat good 2 REFUSED"));
  }

  @Test
  void retriesOnceWhenEndpointsResetAndThenSaysSo() throws Exception {
    RawBackend a = backend("a", (connection, request) -> connection.reset());
    RawBackend b = backend("b", (connection, request) -> connection.reset());
    RawBackend c = backend("c", (connection, request) -> connection.reset());
    serve(a, b, c);
    try (RawHttp client = connect()) {
      client.post(CHAT, BODY);
      RawHttp.Message response = client.read();

      assertThat(response.status()).isEqualTo(502);
      assertThat(response.header("x-fairlead-reject-reason")).isEqualTo("upstream_failed");
      assertThat(a.requests.size() + b.requests.size() + c.requests.size()).isEqualTo(2);
      client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  @Test
  void neverRetriesOnceTheResponseHasBegun() throws Exception {
    serve(backend("a", truncating()), backend("b", truncating()));
    try (RawHttp client = connect()) {
      client.post(CHAT, BODY);
      assertThat(client.readHead().status()).isEqualTo(200);
      assertThat(client.readChunk()).isEqualTo("half");
      assertThatThrownBy(client::readChunk).isInstanceOf(EOFException.class);
    }
    await().untilAsserted(() -> assertThat(events).hasSize(2).contains("ended failed -1/-1"));
  }

  private static RawBackend.Script truncating() {
    return (connection, request) -> {
      connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      connection.chunk("half");
      connection.close();
    };
  }

  @Test
  void aConnectionClosedWhileIdleCostsNothing() throws Exception {
    RawBackend a =
        backend(
            "a",
            (connection, request) -> {
              ok(connection, request);
              connection.read(); // keeps it open, then resets it with the next request in it
              connection.reset();
            });
    serve(a);
    try (RawHttp client = connect()) {
      client.post(CHAT, BODY);
      assertThat(client.read().status()).isEqualTo(200);
      long begun = System.nanoTime();
      client.post(CHAT, BODY);
      int status = client.read().status();
      // Where a second goes by before the reset is seen, it is one that broke at work.
      if (status != 502 || System.nanoTime() - begun < 1_000_000_000) {
        assertThat(status).isEqualTo(200);
        assertThat(a.connections).hasValue(2);
        assertThat(events).noneMatch(event -> event.matches("sent \\S+ \\S+ 2 .*"));
      }
    }
  }

  @Test
  void passesServerErrorsOnAsFailed() throws Exception {
    serve(backend("a", (connection, request) -> connection.respond(500, "", "{\"oops\":1}")));
    try (RawHttp client = connect()) {
      client.post(CHAT, BODY);
      RawHttp.Message response = client.read();
      assertThat(response.status()).isEqualTo(500);
      assertThat(response.text()).isEqualTo("{\"oops\":1}");
    }
    awaitEvents("sent chat a 1", "ended failed -1/-1");
  }

  @Test
  void aClientThatLeavesCancelsTheBackend() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    RawBackend a =
        backend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.chunk("x");
              if (!connection.closed()) {
                never.await();
              }
              throw new EOFException();
            });
    serve(a);
    try (RawHttp client = connect()) {
      client.post(CHAT, STREAMED);
      client.readHead();
      client.readChunk();
    }
    await().untilAsserted(() -> assertThat(a.closed).hasValue(1));
    awaitEvents("sent chat a 1", "first", "ended disconnected -1/-1");
  }

  @ParameterizedTest
  @CsvSource({
    "POST,/v1/chat/completions,application/json,{,400,invalid_json",
    "POST,/v1/chat/completions,application/json,{},400,invalid_model",
    "POST,/v1/chat/completions,text/plain,{},415,unsupported_media_type",
    "POST,/v1/chat/completions,application/json;charset=utf-16,{},415,unsupported_media_type",
    "POST,/v1/load_lora_adapter,application/json,{},404,unknown_path",
    "GET,/metrics,application/json,,404,unknown_path",
    "GET,/v1/chat/completions,application/json,,405,method_not_allowed",
  })
  void badRequestsGetTheirErrorAndKeepTheConnection(
      String method, String path, String type, String body, int status, String code)
      throws Exception {
    RawBackend a = backend("a", GatewayIT::ok);
    serve(a);
    String sent = body == null ? "" : body;
    try (RawHttp client = connect()) {
      client.send(
          method
              + " "
              + path
              + " HTTP/1.1\r\nHost: x\r\nContent-Type: "
              + type
              + "\r\nContent-Length: "
              + sent.length()
              + "\r\n\r\n"
              + sent);
      RawHttp.Message response = client.read();

      assertThat(response.status()).isEqualTo(status);
      assertThat(response.text()).contains("\"code\":\"" + code + "\"", "\"param\":null");
      assertThat(response.header("x-fairlead-reject-reason")).isEqualTo(code);
      assertThat(response.header("allow")).isEqualTo(status == 405 ? "POST" : "");
      client.post(CHAT, BODY);
      assertThat(client.read().status()).isEqualTo(200);
    }
    assertThat(a.requests).hasSize(1);
    assertThat(events).containsOnlyOnce("refused by gateway: " + code);
  }

  @Test
  void aBodyOverTheLimitGets413AndKeepsTheConnection() throws Exception {
    serve(backend("a", GatewayIT::ok));
    try (RawHttp client = connect()) {
      client.post(CHAT, new byte[LIMIT + 1]);
      assertThat(client.read().status()).isEqualTo(413);
      client.post(CHAT, BODY);
      assertThat(client.read().status()).isEqualTo(200);

      client.send(
          "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
      client.chunk("x".repeat(LIMIT));
      client.chunk("x");
      client.send("0\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(413);
      client.post(CHAT, BODY);
      assertThat(client.read().status()).isEqualTo(200);
    }
    assertThat(events).filteredOn("refused by gateway: body_too_large"::equals).hasSize(2);
  }

  /** As most clients do, that write all of a request before they look for an answer. */
  @ParameterizedTest
  @CsvSource({"1.5,true", "2,true", "3,false"})
  void aRefusalIsThereForWhoHasSentAllOfIt(double limits, boolean keepsAlive) throws Exception {
    serve(backend("a", GatewayIT::ok));
    try (RawHttp client = connect()) {
      client.post(CHAT, new byte[(int) (limits * LIMIT)]);
      RawHttp.Message refused = client.read();
      assertThat(refused.status()).isEqualTo(413);
      assertThat(refused.header("connection")).isEqualTo(keepsAlive ? "" : "close");
      if (keepsAlive) {
        client.post(CHAT, BODY);
        assertThat(client.read().status()).isEqualTo(200);
      } else {
        assertThat(client.rest()).as("and no reset").isEmpty();
      }
    }
  }

  @Test
  void aBodyAtTheLimitArrivesWholeInAnyCut() throws Exception {
    RawBackend a = backend("a", GatewayIT::ok);
    serve(a);
    String start = "{\"model\":\"other\",\"prompt\":\"";
    String body = start + "\u00e9".repeat((LIMIT - start.length() - 2) / 2) + "\"}";
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    Random random = new Random(7);
    try (RawHttp client = connect()) {
      client.send(
          "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n");
      assertThat(client.readHead().status()).isEqualTo(100);
      for (int at = 0; at < bytes.length; ) {
        int length = Math.min(bytes.length - at, 1 + random.nextInt(100_000));
        client.send(Integer.toHexString(length) + "\r\n");
        client.send(Arrays.copyOfRange(bytes, at, at + length));
        client.send("\r\n");
        at += length;
      }
      client.send("0\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(200);
    }
    assertThat(a.requests.remove().body()).isEqualTo(bytes);
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws Exception {
    serve(backend("a", (connection, request) -> connection.respond(200, "", request.text())));
    try (RawHttp client = connect()) {
      StringBuilder all = new StringBuilder();
      for (int i = 0; i < 100; i++) {
        String body = "{\"model\":\"m\",\"prompt\":\"" + i + "\"}";
        all.append("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
        if (i % 20 == 0) {
          all.append(
                  "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ")
              .append(body.length())
              .append("\r\n\r\n")
              .append(body);
        }
      }
      Thread.startVirtualThread(
          () -> {
            try {
              client.send(all.toString());
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      for (int i = 0; i < 100; i++) {
        assertThat(client.read().text()).contains("ok");
        if (i % 20 == 0) {
          assertThat(client.read().text()).contains("\"" + i + "\"");
        }
      }
    }
  }

  @Test
  void withoutEndpointsItSays503WithAReason() throws Exception {
    use(List.of());
    try (RawHttp client = connect()) {
      client.post(CHAT, BODY);
      RawHttp.Message response = client.read();
      assertThat(response.status()).isEqualTo(503);
      assertThat(response.header("retry-after")).isEqualTo("1");
      assertThat(response.text()).contains("no_ready_endpoints");
      client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().text()).contains("\"id\":\"chat\"", "\"id\":\"other\"");
    }
    awaitEvents("rejected chat no_ready_endpoints");
  }

  @Test
  void tellsReadinessAsItIsTold() throws Exception {
    try (RawHttp client = connect()) {
      for (boolean now : new boolean[] {false, true, false}) {
        ready.set(now);
        client.send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
        assertThat(client.read().status()).isEqualTo(now ? 200 : 503);
      }
    }
  }

  @Test
  void drainFinishesTheStreamUnderWay() throws Exception {
    CountDownLatch draining = new CountDownLatch(1);
    serve(backend("a", inTwoPieces(draining)));
    try (RawHttp idle = connect();
        RawHttp client = connect()) {
      idle.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(idle.read().status()).isEqualTo(200);
      client.post(CHAT, BODY);
      client.readHead();
      assertThat(client.readChunk()).isEqualTo("before");

      Future<?> drained = gateway.drain(Duration.ZERO, Duration.ofSeconds(30));
      assertThat(idle.closed()).isTrue();
      assertThatThrownBy(this::connect).isInstanceOf(IOException.class);
      assertThat(drained.isDone()).isFalse();
      draining.countDown();

      assertThat(client.readChunk()).isEqualTo("after");
      assertThat(client.readChunk()).isEmpty();
      assertThat(client.closed()).isTrue();
      drained.syncUninterruptibly();
    }
  }

  @Test
  void servesThoseWhoLearnLateOfTheEnd() throws Exception {
    serve(backend("a", GatewayIT::ok));
    try (RawHttp resting = connect()) {
      resting.post(CHAT, BODY);
      assertThat(resting.read().header("connection")).isEmpty();

      var _ = gateway.drain(Duration.ofMinutes(5), Duration.ofMinutes(10));

      resting.post(CHAT, BODY);
      RawHttp.Message last = resting.read();
      assertThat(last.status()).isEqualTo(200);
      assertThat(last.header("connection")).isEqualTo("close");
      assertThat(resting.closed()).isTrue();
      try (RawHttp late = connect()) {
        late.send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
        assertThat(late.read().status()).as("nobody should send more here").isEqualTo(503);
      }
      try (RawHttp late = connect()) {
        late.post(CHAT, BODY);
        assertThat(late.read().status()).isEqualTo(200);
      }
    }
  }

  @Test
  void turnsThemAwayInTheEndAndFinishesTheStreamUnderWay() throws Exception {
    CountDownLatch finish = new CountDownLatch(1);
    serve(backend("a", inTwoPieces(finish)));
    try (RawHttp idle = connect();
        RawHttp client = connect()) {
      client.post(CHAT, BODY);
      client.readHead();
      assertThat(client.readChunk()).isEqualTo("before");

      Future<?> drained = gateway.drain(Duration.ofSeconds(1), Duration.ofMinutes(5));
      assertThat(idle.closed()).as("in the end").isTrue();
      assertThatThrownBy(this::connect).isInstanceOf(IOException.class);
      assertThat(drained.isDone()).isFalse();

      finish.countDown();
      assertThat(client.readChunk()).isEqualTo("after");
      assertThat(client.readChunk()).isEmpty();
      drained.syncUninterruptibly();
    }
  }

  @Test
  void aSlowClientHoldsTheBackendBack() throws Exception {
    AtomicLong written = new AtomicLong();
    long total = 64 << 20;
    serve(
        backend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + total + "\r\n\r\n");
              byte[] piece = new byte[64 << 10];
              for (long sent = 0; sent < total; sent += piece.length) {
                connection.send(piece);
                written.addAndGet(piece.length);
              }
            }));
    try (RawHttp client = connect()) {
      client.post(CHAT, BODY);
      client.readHead();
      long[] before = {-1};
      await()
          .pollInterval(Duration.ofMillis(300))
          .until(
              () -> {
                boolean stalled = written.get() > 0 && written.get() == before[0];
                before[0] = written.get();
                return stalled;
              });
      assertThat(written.get()).isLessThan(total / 2);
    }
  }
}
