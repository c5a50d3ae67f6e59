package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.Usage;
import io.fairlead.epp.corpus.Corpus;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.MedianTime;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The corpus through a real Envoy with two pickers in its filter chain, one after the other. */
class EnvoyCorpusIT {

  private static final String JSON = "Content-Type: application/json\r\n";
  private static final String CHUNKED = "Transfer-Encoding: chunked\r\n\r\n";
  private static final String POST = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + JSON;

  @TempDir private static Path folder;
  private static MultiThreadIoEventLoopGroup loops;
  private static TestPool firstPool;
  private static TestPool secondPool;
  private static ExtProcServer first;
  private static ExtProcServer second;
  private static Envoy envoy;
  private static RawBackend backend;
  private static volatile RawBackend.@Nullable Script script;

  @BeforeAll
  static void start() throws Exception {
    loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    backend =
        new RawBackend(
            "a",
            (connection, request) -> {
              RawBackend.Script now = script;
              if (now != null) {
                now.serve(connection, request);
              }
            });
    firstPool = new TestPool(loops.next()).configured().endpoints(backend.spec());
    secondPool = new TestPool(loops.next()).configured().endpoints(backend.spec());
    first = picker(firstPool);
    second = picker(secondPool);
    envoy = Envoy.start(first.port(), false, folder, EnvoyCorpusIT::twice);
  }

  private static ExtProcServer picker(TestPool pool) {
    return ExtProcServer.start(
        new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.PlainText(), 32 << 20, false),
        pool.loop,
        BodyBudget.ofHeap(),
        loops,
        new Health());
  }

  /** The filter and its cluster once more, for the second picker; trailers pass. */
  private static String twice(String bootstrap) {
    String config =
        bootstrap
            .replace("codec_type: AUTO", "http_protocol_options: {enable_trailers: true}")
            .replace(
                "    type: ORIGINAL_DST\n",
                """
                    type: ORIGINAL_DST
                    typed_extension_protocol_options:
                      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
                        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
                        explicit_http_config:
                          http_protocol_options: {enable_trailers: true}
                """);
    int filter = config.indexOf("          - name: envoy.filters.http.ext_proc\n");
    int router = config.indexOf("          - name: envoy.filters.http.router\n");
    int cluster = config.indexOf("  - name: picker\n");
    String again =
        config
            .substring(filter, router)
            .replace("cluster_name: picker", "cluster_name: second")
            .replace("http.ext_proc\n", "http.ext_proc.second\n");
    String clusterAgain =
        config
            .substring(cluster)
            .replace("name: picker", "name: second")
            .replace("port_value: " + first.port(), "port_value: " + second.port());
    return config.substring(0, router)
        + again
        + config.substring(router).stripTrailing()
        + "\n"
        + clusterAgain;
  }

  @AfterAll
  static void stop() throws IOException {
    envoy.close();
    first.close();
    second.close();
    backend.close();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @BeforeEach
  void forgetEarlierEvents() {
    backend.requests.clear();
    for (TestPool pool : List.of(firstPool, secondPool)) {
      pool.events.clear();
      pool.usages.clear();
      pool.configured(); // forgets what an endpoint has shown
    }
    script = EnvoyCorpusIT::answerBriefly;
  }

  @AfterEach
  void nothingIsLeft() {
    for (ExtProcServer picker : List.of(first, second)) {
      await().until(() -> picker.counters().active() == 0);
      assertThat(picker.counters().failures()).isZero();
      assertThat(picker.counters().protocolErrors()).isZero();
    }
    for (TestPool pool : List.of(firstPool, secondPool)) {
      await().until(() -> pool.active() == 0);
      assertThat(pool.inFlight()).isZero();
    }
  }

  private static void answerBriefly(RawHttp connection, RawHttp.Message request)
      throws IOException {
    connection.respond(200, "content-type: application/json\r\n", "{\"model\":\"llama-v2\"}");
  }

  @ParameterizedTest
  @MethodSource("io.fairlead.epp.corpus.Corpus#requests")
  void requests(Corpus.Request request) throws Exception {
    for (boolean chunked : new boolean[] {false, true}) {
      backend.requests.clear();
      try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
        if (chunked) {
          sendChunked(client, request.sent());
        } else {
          client.post("/v1/chat/completions", request.sent());
        }
        RawHttp.Message answer = client.read();
        if (request.isGood()) {
          assertThat(answer.text()).isEqualTo("{\"model\":\"chat\"}");
          assertThat(Arrays.equals(backend.requests.remove().body(), request.forwarded())).isTrue();
        } else if (chunked || request.sent().length > 0) { // an empty body is none
          assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo(request.outcome());
        }
      }
    }
  }

  private static void sendChunked(RawHttp client, byte[] body) throws IOException {
    client.send(POST + CHUNKED);
    for (int from = 0; from < body.length; ) {
      int to = Math.min(body.length, from + Math.max(1, body.length / 7));
      client.chunk(body, from, to);
      from = to;
    }
    client.send("0\r\nx-late: 1\r\n\r\n");
  }

  @ParameterizedTest
  @MethodSource("io.fairlead.epp.corpus.Corpus#answers")
  void answers(Corpus.Answer answer) throws Exception {
    String head = "HTTP/1.1 200 OK\r\ncontent-type: " + answer.contentType() + "\r\n";
    int[] cuts = Corpus.cuts(answer.body());
    for (int i = 0; i < cuts.length; i += 1 + cuts.length / 30) {
      int cut = cuts[i];
      boolean chunked = i % 2 == 0;
      script =
          (connection, request) -> {
            byte[] body = answer.body();
            if (!chunked) {
              connection.send(head + "content-length: " + body.length + "\r\n\r\n");
              connection.send(Arrays.copyOfRange(body, 0, cut));
              connection.send(Arrays.copyOfRange(body, cut, body.length));
              return;
            }
            connection.send(head + CHUNKED);
            if (cut > 0) {
              connection.chunk(body, 0, cut);
            }
            if (cut < body.length) {
              connection.chunk(body, cut, body.length);
            }
            connection.send("0\r\nx-late: 1\r\n\r\n");
          };
      try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
        client.post(
            "/v1/chat/completions", "{\"model\":\"chat\",\"stream\":true,\"messages\":[{}]}");
        RawHttp.Message got = client.read();
        assertThat(Arrays.equals(got.body(), answer.delivered())).as("cut at %d", cut).isTrue();
      }
      int known = i / (1 + cuts.length / 30) + 1;
      for (TestPool pool : List.of(firstPool, secondPool)) {
        await()
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(2))
            .until(() -> pool.usages.size() == known);
        Usage usage = pool.usages.getLast();
        assertThat(new Usage(usage.promptTokens(), usage.completionTokens(), usage.cachedTokens()))
            .isEqualTo(answer.usage());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"headers", "body", "whole", "answer"})
  void aClientThatLeavesAtAnyStage(String stage) throws Exception {
    CountDownLatch hold = new CountDownLatch(1);
    script =
        (connection, request) -> {
          if (stage.equals("answer")) {
            connection.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" + CHUNKED);
            connection.chunk("data: {}\n\n");
          }
          hold.await();
        };
    String body = "{\"model\":\"chat\",\"messages\":[{}]}";
    try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
      client.send(POST + "Content-Length: " + body.length() + "\r\n\r\n");
      switch (stage) {
        case "headers" -> await().until(() -> first.counters().active() == 1);
        case "body" -> {
          client.send(body.substring(0, 12));
          await().until(() -> first.counters().active() == 1);
        }
        case "whole" -> {
          client.send(body);
          await().until(() -> backend.requests.size() == 1);
        }
        default -> {
          client.send(body);
          assertThat(client.readHead().status()).isEqualTo(200);
          assertThat(client.readChunk()).isEqualTo("data: {}\n\n");
        }
      }
    } finally {
      hold.countDown();
    }
    boolean sent = stage.equals("whole") || stage.equals("answer");
    await().until(() -> firstPool.events.size() == (sent ? 2 : 0));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aClientThatLeavesIsSeenToHaveLeftByTheServer(boolean answering) throws Exception {
    Duration soon = Duration.ofMillis(250);
    assertThat(MedianTime.ofFive(soon, () -> leavingTakes(answering))).isLessThan(soon);
  }

  private static Duration leavingTakes(boolean answering) throws Exception {
    backend.requests.clear();
    CompletableFuture<Long> seen = new CompletableFuture<>();
    script =
        (connection, request) -> {
          if (answering) {
            connection.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" + CHUNKED);
            connection.chunk("data: {}\n\n");
          }
          connection.closed();
          seen.complete(System.nanoTime());
          throw new EOFException("closed by Envoy");
        };
    long left;
    try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
      client.post("/v1/chat/completions", "{\"model\":\"chat\",\"messages\":[{}]}");
      await().until(() -> backend.requests.size() == 1);
      if (answering) {
        assertThat(client.readHead().status()).isEqualTo(200);
        assertThat(client.readChunk()).isEqualTo("data: {}\n\n");
      }
      left = System.nanoTime();
    }
    return Duration.ofNanos(seen.get(20, TimeUnit.SECONDS) - left);
  }

  @ParameterizedTest
  @ValueSource(strings = {"request", "headers", "answer"})
  void aServerThatResetsAtAnyStage(String stage) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    script =
        (connection, request) -> {
          if (!stage.equals("request")) {
            connection.send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" + CHUNKED);
            if (stage.equals("answer")) {
              connection.chunk("data: {\"model\":\"lla");
            }
            begun.await();
          }
          connection.reset();
        };
    try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
      client.post("/v1/chat/completions", "{\"model\":\"chat\",\"messages\":[{}]}");
      RawHttp.Message head = client.readHead();
      assertThat(head.status()).isEqualTo(stage.equals("request") ? 503 : 200);
      if (stage.equals("answer")) {
        assertThat(client.readChunk()).isEqualTo("data: {\"model\":");
      }
      begun.countDown();
      if (!stage.equals("request")) {
        assertThatThrownBy(client::readChunk).isInstanceOf(IOException.class);
      }
    } finally {
      begun.countDown();
    }
    await().until(() -> firstPool.events.size() == 2 && secondPool.events.size() == 2);
  }

  @Test
  void requestsWithoutBodyPassBoth() throws Exception {
    try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
      client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(200);
    }
  }
}
