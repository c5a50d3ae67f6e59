package io.fairlead.epp.frontend.extproc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A real Envoy in each mode that is served. */
class EnvoyModesIT {

  private static final String EVENTS =
      "data: {\"model\":\"llama-v2\",\"choices\":[{\"text\":\"hä\"}]}\n\n"
          + "data: {\"model\":\"llama-v2\",\"choices\":[],"
          + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n"
          + "data: [DONE]\n\n";
  private static final String JSON =
      "{\"model\":\"llama-v2\",\"choices\":[{\"text\":\"\\\"model\\\":\\\"llama-v2\\\"\"}],"
          + "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}";

  @TempDir private Path folder;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final TestPool pool = new TestPool(loops.next()).configured();
  private final RawBackend a = backend("a");
  private final RawBackend b = backend("b");
  private final ExtProcServer picker = picker();

  private static RawBackend backend(String name) {
    try {
      return new RawBackend(name, EnvoyModesIT::answer);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private ExtProcServer picker() {
    pool.endpoints(a.spec(), b.spec());
    return ExtProcServer.start(
        new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.PlainText(), 1 << 20, false),
        pool.loop,
        BodyBudget.ofHeap(),
        loops,
        new Health());
  }

  private static void answer(RawHttp connection, RawHttp.Message request) throws Exception {
    if (request.text().contains("fail")) {
      connection.respond(503, "content-type: application/json\r\n", "{\"error\":{}}");
    } else if (request.text().contains("\"stream\":true")) {
      connection.send(
          "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
      byte[] bytes = EVENTS.getBytes(UTF_8);
      for (int from = 0; from < bytes.length; from += 13) {
        connection.chunk(bytes, from, Math.min(bytes.length, from + 13));
      }
      connection.chunk("");
    } else {
      connection.respond(200, "content-type: application/json\r\n", JSON);
    }
  }

  @AfterEach
  void stop() throws IOException {
    picker.close();
    a.close();
    b.close();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private static String edited(
      String config, String request, String response, String responseHeaders) {
    return config
        .replace("request_body_mode: FULL_DUPLEX_STREAMED", "request_body_mode: " + request)
        .replace("response_body_mode: FULL_DUPLEX_STREAMED", "response_body_mode: " + response)
        .replace("response_header_mode: SEND", "response_header_mode: " + responseHeaders);
  }

  @ParameterizedTest
  @CsvSource({
    "FULL_DUPLEX_STREAMED,FULL_DUPLEX_STREAMED,SEND",
    "FULL_DUPLEX_STREAMED,STREAMED,SEND",
    "FULL_DUPLEX_STREAMED,STREAMED,SKIP",
    "FULL_DUPLEX_STREAMED,BUFFERED,SEND",
    "FULL_DUPLEX_STREAMED,NONE,SEND",
    "FULL_DUPLEX_STREAMED,NONE,SKIP",
    "BUFFERED,FULL_DUPLEX_STREAMED,SEND",
    "BUFFERED,STREAMED,SEND",
    "BUFFERED,BUFFERED,SEND",
    "BUFFERED,NONE,SEND",
    "BUFFERED,NONE,SKIP",
    "BUFFERED_PARTIAL,STREAMED,SEND",
    "NONE,FULL_DUPLEX_STREAMED,SEND",
    "NONE,STREAMED,SEND",
    "NONE,NONE,SEND",
    "NONE,NONE,SKIP"
  })
  void requestsAndAnswersPassAndNothingIsLeft(
      String request, String response, String responseHeaders) throws Exception {
    boolean read = !request.equals("NONE");
    boolean seen = !response.equals("NONE");
    boolean renamed = read && seen && responseHeaders.equals("SEND");
    try (Envoy envoy =
        Envoy.start(
            picker.port(),
            false,
            folder,
            config -> edited(config, request, response, responseHeaders))) {
      for (int size : new int[] {1, 128 << 10, 500 << 10}) {
        for (boolean stream : new boolean[] {true, false}) {
          pool.events.clear();
          String body =
              "{\"stream\":%s,\"model\":\"chat\",\"messages\":[{\"role\":\"user\",\"content\":\"é%s\"}]}"
                  .formatted(stream, "x".repeat(size));
          RawHttp.Message answer = ask(envoy, body);

          assertThat(answer.status()).as(answer.text()).isEqualTo(200);
          String expected = stream ? EVENTS : JSON;
          assertThat(answer.text())
              .isEqualTo(
                  renamed
                      ? expected.replace("{\"model\":\"llama-v2\"", "{\"model\":\"chat\"")
                      : expected);
          RawBackend picked = pool.events.getFirst().equals("sent a") ? a : b;
          assertThat(pool.events.getFirst()).isEqualTo("sent " + picked.name);
          RawHttp.Message got = picked.requests.remove();
          assertThat(a.requests).isEmpty();
          assertThat(b.requests).isEmpty();
          assertThat(got.text()).isEqualTo(read ? body.replace("\"chat\"", "\"llama-v2\"") : body);
          assertThat(got.header(Destinations.NAME)).isEqualTo("127.0.0.1:" + picked.spec().port());
          awaitEnd(picked.name, read, stream, seen, responseHeaders.equals("SEND"));
        }
      }
      assertThat(envoy.stats("ext_proc.spurious_msgs_received")).contains(": 0");
    }
  }

  private void awaitEnd(String name, boolean read, boolean stream, boolean seen, boolean headers) {
    await().until(() -> picker.counters().active() == 0);
    boolean left = !seen && (stream || !headers);
    await()
        .until(() -> pool.events.contains(left ? "left " + name : "ended " + name + " COMPLETED"));
    assertThat(pool.events.contains("first token " + name)).isEqualTo(read && stream && seen);
    if (seen) {
      assertThat(pool.usages.getLast().promptTokens()).isEqualTo(5);
      assertThat(pool.usages.getLast().completionTokens()).isEqualTo(2);
    }
    if (left) {
      for (EndpointSpec spec : List.of(a.spec(), b.spec())) {
        pool.loop.scraped(
            spec,
            System.nanoTime() + Duration.ofSeconds(2).toNanos(),
            new EndpointMetrics(0, 0, 0.0, -1, -1));
      }
    }
    await().until(() -> pool.inFlight() == 0 && pool.active() == 0);
    assertThat(picker.counters().failures()).isZero();
    assertThat(picker.counters().protocolErrors()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "FULL_DUPLEX_STREAMED,STREAMED,SEND",
    "FULL_DUPLEX_STREAMED,NONE,SEND",
    "BUFFERED,BUFFERED,SEND",
    "BUFFERED,NONE,SEND",
    "NONE,NONE,SEND"
  })
  void aServersErrorIsItsFailure(String request, String response, String headers) throws Exception {
    try (Envoy envoy =
        Envoy.start(
            picker.port(), false, folder, config -> edited(config, request, response, headers))) {
      RawHttp.Message answer = ask(envoy, "{\"model\":\"fail\",\"messages\":[{}]}");
      assertThat(answer.status()).isEqualTo(503);
      assertThat(answer.text()).isEqualTo("{\"error\":{}}");
      await().until(() -> pool.events.size() == 2);
      assertThat(pool.events.getLast()).endsWith("FAILED");
      await().until(() -> pool.active() == 0 && picker.counters().active() == 0);
    }
  }

  private static RawHttp.Message ask(Envoy envoy, String body) throws IOException {
    try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
      client.post("/v1/chat/completions", body);
      return client.read();
    }
  }
}
