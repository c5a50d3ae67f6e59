package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that speak HTTP in ways that few do, or wrong. */
@ExtendWith(NoLeaks.class)
class GatewayOddServersIT {

  private static String request(String marked) {
    String body = Rig.BODY.replace("hi", marked);
    return "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(Rig.CHAT, body.length(), body);
  }

  private static String answer(String body) {
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(body.length(), body);
  }

  /** A recipient may take them for ends of lines, RFC 9112 2.2, and proxies do. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 2\n\n{}",
        "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\r\n{}\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nServer: a\nContent-Length: 2\r\n\r\n{}"
      })
  void linesOfAHeadMayEndWithLineFeedsAlone(String answer) throws Exception {
    RawBackend a = new RawBackend("a", (connection, request) -> connection.send(answer));
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 2; i++) {
        client.post(Rig.CHAT, Rig.BODY);
        RawHttp.Message got = client.read();
        assertThat(got.status()).isEqualTo(200);
        assertThat(got.text()).isEqualTo("{}");
      }
      assertThat(a.connections).as("it serves on").hasValue(1);
    }
  }

  /** Whatever the server meant by it: the next request on its connection is somebody else's. */
  @Test
  void aSecondAnswerInOneBreathIsNobodys() throws Exception {
    RawBackend twice =
        new RawBackend(
            "a",
            (connection, request) -> {
              String marked = request.text().contains("first") ? "\"first\"" : "\"second\"";
              String own = answer(marked);
              connection.send(marked.contains("first") ? own + answer("\"foreign\"") : own);
            });
    try (Rig rig = new Rig(Rig.config(), twice);
        RawHttp client = rig.connect()) {
      // Together, so that the second one is sent as soon as the first one is answered.
      client.send(request("first") + request("second"));
      assertThat(client.read().text()).isEqualTo("\"first\"");
      assertThat(client.read().text()).isEqualTo("\"second\"");
      client.send(request("third"));
      assertThat(client.read().text()).isEqualTo("\"second\"");
    }
  }

  /** Its length is that of the body that a GET would bring: none of it comes. */
  @Test
  void anAnswerToHeadHasNoBodyWhateverItsLength() throws Exception {
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.send(
                    request.start().startsWith("HEAD ")
                        ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
                        : answer("{}")));
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 2; i++) {
        client.send("HEAD /tokenizer_info HTTP/1.1\r\nHost: x\r\n\r\n");
        RawHttp.Message head = client.readHead();
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.header("content-length")).isEqualTo("5");
        client.send("GET /tokenizer_info HTTP/1.1\r\nHost: x\r\n\r\n");
        assertThat(client.read().text()).isEqualTo("{}");
      }
      assertThat(a.connections).hasValue(1);
    }
  }

  /** In one breath with the answer, or once its connection waits for the next request. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatIsSaidAfterAnAnswerIsPartOfNoOther(boolean together) throws Exception {
    Semaphore answered = new Semaphore(0);
    Semaphore said = new Semaphore(0);
    RawBackend talkative =
        new RawBackend(
            "a",
            (connection, request) -> {
              if (together) {
                connection.send(answer("{}") + "HTTP/1.1 200");
              } else {
                connection.send(answer("{}"));
                answered.acquire();
                connection.send("HTTP/1.1 200");
              }
              said.release();
            });
    try (Rig rig = new Rig(Rig.config(), talkative);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 3; i++) {
        client.post(Rig.CHAT, Rig.BODY);
        assertThat(client.read().text()).isEqualTo("{}");
        answered.release();
        said.acquire();
        int closed = i + 1;
        await().until(() -> talkative.closed.get() == closed);
      }
      assertThat(talkative.connections).hasValue(3);
    }
  }

  @Test
  void whatIsSaidBeforeAnAnswerIsNoAnswer() throws Exception {
    RawBackend polite =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.send(
                    "HTTP/1.1 100 Continue\r\n\r\n"
                        + "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(20)
                        + answer("{}")));
    try (Rig rig = new Rig(Rig.config(), polite);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 3; i++) {
        client.post(Rig.CHAT, Rig.BODY);
        assertThat(client.read().text()).isEqualTo("{}");
      }
      assertThat(polite.connections).hasValue(1);
    }
  }

  /** None is below 100: what looks like an interim one would be waited after for ever. */
  @ParameterizedTest
  @ValueSource(strings = {"000", "0", "99"})
  void aStatusThatThereIsNotIsAFailure(String status) throws Exception {
    RawBackend odd =
        new RawBackend(
            "a", (connection, request) -> connection.send(answer("{}").replace("200", status)));
    try (Rig rig = new Rig(Rig.config(), odd);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(502);
    }
  }

  /** It is no header, and may be none of another name either. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "bad name: 1",
        "content-length x: 1",
        "transfer-encoding x: chunked",
        "a(b): 1",
        "no colon",
        ": 1",
        "x: a\0b",
        "x: a\rcontent-length: 0"
      })
  void aLineOfAHeadThatIsNoHeaderIsAFailure(String line) throws Exception {
    RawBackend odd =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.send(answer("{}").replace("\r\n\r\n", "\r\n" + line + "\r\n\r\n")));
    try (Rig rig = new Rig(Rig.config(), odd);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("upstream_failed");
      client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  /** Such spaces are no part of the name, and don't pass, RFC 9112 5.1. */
  @Test
  void spacesBehindTheNameOfAHeaderAreDropped() throws Exception {
    RawBackend odd =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.send(answer("{}").replace("\r\n\r\n", "\r\nX-Odd \t: 1\r\n\r\n")));
    try (Rig rig = new Rig(Rig.config(), odd);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().header("x-odd")).isEqualTo("1");
    }
  }

  /**
   * Chunks would be undone and the coding not, so a client would get bytes that nothing explains.
   */
  @Test
  void theTransferCodingThatIsNoneIsTaken() throws Exception {
    RawBackend old =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.send(
                    answer("{}").replace("\r\n\r\n", "\r\nTransfer-Encoding: identity\r\n\r\n")));
    try (Rig rig = new Rig(Rig.config(), old);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().text()).isEqualTo("{}");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip, chunked", "gzip", "xyz\r\ntransfer-encoding: chunked"})
  void aTransferCodingThatIsNotUndoneIsAFailure(String codings) throws Exception {
    RawBackend odd =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.send(
                    "HTTP/1.1 200 OK\r\ntransfer-encoding: %s\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
                        .formatted(codings)));
    try (Rig rig = new Rig(Rig.config(), odd);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(502);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {100_000, 20_000_000})
  void aHeadThatIsTooLongIsAFailureAndTakesNoMemory(int length) throws Exception {
    RawBackend verbose =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.send(
                    "HTTP/1.1 200 OK\r\nX: "
                        + "x".repeat(length)
                        + "\r\nContent-Length: 2\r\n\r\n{}"));
    try (Rig rig = new Rig(Rig.config(), verbose);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      RawHttp.Message refused = client.read();
      assertThat(refused.status()).isEqualTo(502);
      assertThat(refused.text()).contains("\"error\"");
      client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  /** Its bytes are not text, so that nothing is found in them, and nothing replaced. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAnswerThatIsCompressedPassesAsItIs(boolean chunked) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(
          "{\"model\":\"m\",\"usage\":{\"prompt_tokens\":7}}".getBytes(StandardCharsets.UTF_8));
    }
    byte[] packed = bytes.toByteArray();
    RawBackend packing =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send(
                  "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                      + (chunked
                          ? "Transfer-Encoding: chunked\r\n\r\n"
                          : "Content-Length: " + packed.length + "\r\n\r\n"));
              if (chunked) {
                connection.chunk(packed, 0, 10);
                connection.chunk(packed, 10, packed.length);
                connection.chunk("");
              } else {
                connection.send(packed);
              }
            });
    try (Rig rig = new Rig(Rig.config(), packing);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      RawHttp.Message whole = client.read();
      assertThat(whole.header("content-encoding")).isEqualTo("gzip");
      assertThat(whole.body()).isEqualTo(packed);
      rig.awaitEvents("sent m a 1", "ended completed -1/-1");
    }
  }

  /**
   * As servers answer that refuse a body by its head: they read no more of it and close, so that
   * the kernel resets what is still being sent.
   */
  @ParameterizedTest
  @ValueSource(ints = {10, 50_000})
  void aRefusalThatComesBeforeTheBodyIsSentReachesTheClient(int length) throws Exception {
    String why = "x".repeat(length);
    RawBackend.Reader beginning =
        connection -> {
          RawHttp.Message head = connection.readHead();
          connection.skip(64 << 10);
          return head;
        };
    RawBackend.Script refusing =
        (connection, request) -> {
          connection.respond(413, "Connection: close\r\n", why);
          connection.close();
        };
    RawBackend a = new RawBackend("a", beginning, refusing);
    RawBackend b = new RawBackend("b", beginning, refusing);
    String body = "{\"model\":\"m\",\"prompt\":\"" + "x".repeat(2_000_000) + "\"}";
    try (Rig rig = new Rig(Rig.config(), a, b)) {
      for (int i = 1; i <= 20; i++) {
        try (RawHttp client = rig.connect()) {
          client.post("/v1/completions", body);
          RawHttp.Message refused = client.read();
          assertThat(refused.status()).isEqualTo(413);
          assertThat(refused.text()).isEqualTo(why);
          assertThat(a.requests.size() + b.requests.size()).isEqualTo(i);
        }
      }
      await().until(() -> rig.pool.active().get() == 0);
      assertThat(rig.events)
          .hasSize(40)
          .allMatch(e -> e.matches("sent m [ab] 1|ended invalid -1/-1"));
    }
  }

  private static final String STREAMED = Rig.BODY.replace("{\"model", "{\"stream\":true,\"model");
  private static final String EVENTS_HEAD =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  /** One that tells its client to wait, and dies before the first token: another one answers. */
  @Test
  void aCommentIsNoAnswerYet() throws Exception {
    RawBackend.Script dying =
        (connection, request) -> {
          connection.send(EVENTS_HEAD);
          connection.chunk(": ping\n\n");
          connection.chunk("event: response.created\ndata: {\"content\":\"a\"}\n\n");
          connection.reset();
        };
    RawBackend.Script well =
        (connection, request) -> {
          connection.send(EVENTS_HEAD);
          connection.chunk(": pong\n\n");
          connection.chunk("data: {\"content\":\"a\"}\n\n");
          connection.chunk("");
        };
    Set<String> dead = ConcurrentHashMap.newKeySet();
    RawBackend.Script either =
        (connection, request) ->
            (dead.add(request.text()) ? dying : well).serve(connection, request);
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", either), new RawBackend("b", either));
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, STREAMED);
      assertThat(client.read().text()).isEqualTo(": pong\n\ndata: {\"content\":\"a\"}\n\n");
      await().until(() -> rig.events.size() == 4);
      assertThat(rig.events).element(1).asString().matches("sent m [ab] 2 DIED");
      assertThat(rig.events).endsWith("first", "ended completed -1/-1");
    }
  }

  /** What is before a client may not wait for longer: it gets what tells it to wait. */
  @Test
  void whatIsHeldIsPassedOnThoughNothingElseComes() throws Exception {
    Semaphore seen = new Semaphore(0);
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send(EVENTS_HEAD);
              connection.chunk("event: response.created\ndata: {\"content\":\"a\"}\n\n");
              seen.acquire();
              connection.chunk("data: {\"content\":\"a\"}\n\n");
              connection.chunk("");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, STREAMED);
      client.readHead();
      assertThat(client.readChunk()).startsWith("event: response.created");
      assertThat(rig.events).containsExactly("sent m a 1");
      seen.release();
      client.readChunkToEnd();
      rig.awaitEvents("sent m a 1", "first", "ended completed -1/-1");
    }
  }

  @Test
  void anErrorBehindACommentIsNoFirstToken() throws Exception {
    String error = "data: {\"error\": {\"message\": \"out of memory\", \"code\": 500}}\n\n";
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send(
                  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n: ping\n\n"
                      .formatted(8 + error.length()));
              connection.send(error);
            });
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, STREAMED);
      assertThat(client.read().text()).endsWith(error);
      await().until(() -> rig.events.size() == 2);
      assertThat(rig.events).doesNotContain("first");
    }
  }

  /** They are passed on sooner or later, and then the client has some of the answer. */
  @Test
  void manyCommentsReachTheClientAndAreNoFirstToken() throws Exception {
    Semaphore seen = new Semaphore(0);
    String comment = ": " + "x".repeat(998) + "\n\n";
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send(EVENTS_HEAD);
              for (int i = 0; i < 20; i++) {
                connection.chunk(comment);
              }
              seen.acquire();
              connection.chunk("data: {\"content\":\"a\"}\n\n");
              connection.chunk("");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, STREAMED);
      client.readHead();
      assertThat(client.readChunk()).startsWith(": x");
      rig.settleSockets();
      assertThat(rig.events).containsExactly("sent m a 1");
      assertThat(rig.pool.snapshot().syncUninterruptibly().getNow().getFirst().awaitingFirstToken())
          .isOne();
      seen.release();
      client.readChunkToEnd();
      rig.awaitEvents("sent m a 1", "first", "ended completed -1/-1");
    }
  }

  @Test
  void aServerMayHaveAnAddressOfVersion6() throws Exception {
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    try (ModelServer stub =
            ModelServer.start(
                ModelServerConfig.builder("six", "m").listen("::1", 0).instant().build(), loops);
        Rig rig =
            new Rig(
                Rig.config(),
                RequestsConfig.DEFAULT,
                List.of(new EndpointSpec("six", "1", "::1", stub.address().getPort(), Map.of())));
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
    } finally {
      loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
  }
}
