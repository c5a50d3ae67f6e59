package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.Http2Backend;
import io.fairlead.epp.sockets.Http2Client;
import io.fairlead.epp.sockets.MedianTime;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.sockets.RawHttp2;
import io.fairlead.epp.tls.EndpointSecurity;
import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.tls.PemFiles;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Endpoints that speak HTTP/2, as pools of {@code appProtocol: kubernetes.io/h2c} have them. */
@ExtendWith(NoLeaks.class)
class GatewayHttp2BackendIT {

  @TempDir private static Path pair;

  @BeforeAll
  static void makePair() {
    PemFiles.writeMade(pair, "model-server", Instant.now());
  }

  private static final String USAGE = "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}";

  private static Rig rig(Http2Backend... backends) {
    List<EndpointSpec> specs = Arrays.stream(backends).map(Http2Backend::spec).toList();
    Rig rig = new Rig(Rig.config(), RequestsConfig.DEFAULT, specs);
    rig.gateway.speakHttp2(true);
    return rig;
  }

  @Test
  void overTlsTooWhereTheyAgree() throws Exception {
    SslContext both = new ServingSecurity.SelfSigned().ready(ServingSecurity.Protocols.HTTP).ssl();
    GatewayConfig config =
        Rig.config().withEndpoints(EndpointTls.of(new EndpointSecurity.Unverified()));
    try (Http2Backend a = new Http2Backend("a", 100, both, GatewayHttp2BackendIT::ok);
        Rig rig = new Rig(config, RequestsConfig.DEFAULT, List.of(a.spec()));
        RawHttp client = rig.connect()) {
      rig.gateway.speakHttp2(true);
      for (int i = 0; i < 3; i++) {
        client.post(Rig.CHAT, Rig.BODY);
        assertThat(client.read().text()).isEqualTo(USAGE);
      }
      assertThat(a.connections).as("with many streams").hasSize(1);
      assertThat(a.requests).hasSize(3);
    }
  }

  @Test
  void oneThatSpeaksAnotherProtocolOverTlsGetsNothing() throws Exception {
    SslContext http1 =
        SslContextBuilder.forServer(
                pair.resolve("tls.crt").toFile(), pair.resolve("tls.key").toFile())
            .build();
    GatewayConfig config =
        Rig.config().withEndpoints(EndpointTls.of(new EndpointSecurity.Unverified()));
    try (Http2Backend a = new Http2Backend("a", 100, http1, GatewayHttp2BackendIT::ok);
        Rig rig = new Rig(config, RequestsConfig.DEFAULT, List.of(a.spec()));
        RawHttp client = rig.connect()) {
      rig.gateway.speakHttp2(true);
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(502);
      assertThat(a.requests).isEmpty();
    }
  }

  private static void ok(Channel stream, FullHttpRequest request) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.copiedBuffer(USAGE, UTF_8));
    response.headers().set("content-type", "application/json");
    response.headers().set("content-length", USAGE.length());
    var _ = stream.writeAndFlush(response);
  }

  /** All head, as servers answer that have nothing to say. */
  private static void nothing(Channel stream, FullHttpRequest request) {
    var _ =
        stream.writeAndFlush(
            new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.NOT_FOUND));
  }

  private static void closeConnection(Channel stream, FullHttpRequest request) {
    var _ = stream.parent().close();
  }

  private static void begin(Channel stream) {
    DefaultHttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    head.headers().set("content-type", "text/event-stream");
    var _ = stream.writeAndFlush(head);
    piece(stream, "data: 1\n\n");
  }

  private static void piece(Channel stream, String text) {
    var _ = stream.writeAndFlush(new DefaultHttpContent(Unpooled.copiedBuffer(text, UTF_8)));
  }

  @Test
  void manyRequestsShareAConnection() throws Exception {
    try (Http2Backend a = new Http2Backend("a", 100, GatewayHttp2BackendIT::ok);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 20; i++) {
        client.post(Rig.CHAT + "?i=" + i, Rig.BODY);
        RawHttp.Message answer = client.read();
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo(USAGE);
        FullHttpRequest seen = a.requests.remove();
        assertThat(seen.uri()).isEqualTo(Rig.CHAT + "?i=" + i);
        assertThat(seen.content().toString(UTF_8)).isEqualTo(Rig.BODY);
        assertThat(seen.headers().get("host")).isEqualTo("x");
        assertThat(seen.headers().get("via")).isEqualTo("1.1 fairlead");
      }
      assertThat(a.connections).hasSize(1);
      await()
          .untilAsserted(
              () -> assertThat(rig.events).filteredOn("ended completed 3/4"::equals).hasSize(20));
    }
  }

  @Test
  void aHostThatIsEmptyBecomesTheServersOwn() throws Exception {
    try (Http2Backend a = new Http2Backend("a", 100, GatewayHttp2BackendIT::ok);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      client.send(
          "POST %s HTTP/1.1\r\nHost: \r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
              .formatted(Rig.CHAT, Rig.BODY.length(), Rig.BODY));
      assertThat(client.read().status()).isEqualTo(200);
      HttpHeaders seen = a.requests.remove().headers();
      assertThat(seen.get("host")).isEqualTo("127.0.0.1:" + a.spec().port());
      assertThat(seen.contains("x-forwarded-host")).isFalse();
    }
  }

  /** Over a space there hypercorn ends its connection, and the answers of all others with it. */
  @Test
  void noValueOfAHeaderEndsWithASpace() throws Exception {
    try (Http2Backend a = new Http2Backend("a", 100, GatewayHttp2BackendIT::ok);
        Rig rig = rig(a);
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      client.post(Rig.CHAT, Rig.BODY, "foo", "x ", "authorization", "y\t");
      client.awaitEnds(1);
      assertThat(client.ends).containsEntry(1, "200");
      HttpHeaders seen = a.requests.remove().headers();
      assertThat(seen.get("foo")).isEqualTo("x");
      assertThat(seen.get("authorization")).isEqualTo("y");
    }
  }

  @Test
  void anAnswerThatIsAllHeadComesToItsEnd() throws Exception {
    try (Http2Backend a = new Http2Backend("a", 100, GatewayHttp2BackendIT::nothing);
        Rig rig = rig(a);
        RawHttp client = rig.connect();
        Http2Client other = new Http2Client(rig.gateway.port())) {
      for (int i = 0; i < 2; i++) {
        client.post(Rig.CHAT, Rig.BODY);
        RawHttp.Message answer = client.read();
        assertThat(answer.status()).isEqualTo(404);
        assertThat(answer.text()).isEmpty();
        assertThat(answer.headers()).doesNotContainKey("connection");
      }
      Http2Client.Call call = other.call(Http2Client.post(Rig.CHAT, Rig.BODY)).await();
      assertThat(call.status).isEqualTo(404);
      assertThat(call.body()).isEmpty();
    }
  }

  @Test
  void thoseThatDoNotFitOnOneConnectionGetAnother() throws Exception {
    CountDownLatch all = new CountDownLatch(5);
    List<Channel> waiting = new ArrayList<>();
    try (Http2Backend a =
            new Http2Backend(
                "a",
                2,
                (stream, request) -> {
                  waiting.add(stream);
                  all.countDown();
                  if (all.getCount() == 0) {
                    waiting.forEach(each -> ok(each, request));
                  }
                });
        Rig rig = rig(a)) {
      List<RawHttp> clients = new ArrayList<>();
      // One first, so that the limit is known.
      for (int i = 0; i < 5; i++) {
        RawHttp client = rig.connect();
        clients.add(client);
        client.post(Rig.CHAT, Rig.BODY);
        int sent = i + 1;
        await().until(() -> a.requests.size() == sent);
      }
      for (RawHttp client : clients) {
        assertThat(client.read().status()).isEqualTo(200);
        client.close();
      }
      assertThat(a.connections).hasSize(3);
    }
  }

  @Test
  void streamsPassPieceByPieceWithTheirTrailers() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    try (Http2Backend a =
            new Http2Backend(
                "a",
                100,
                (stream, request) -> {
                  begin(stream);
                  Thread.startVirtualThread(
                      () -> {
                        try {
                          seen.await();
                        } catch (InterruptedException e) {
                          Thread.currentThread().interrupt();
                        }
                        piece(stream, "data: " + USAGE + "\n\n");
                        LastHttpContent last = new DefaultLastHttpContent();
                        last.trailingHeaders().set("x-took", "7");
                        var _ = stream.writeAndFlush(last);
                      });
                });
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.readHead().header("transfer-encoding")).isEqualTo("chunked");
      assertThat(client.readChunk()).isEqualTo("data: 1\n\n");
      seen.countDown();
      assertThat(client.readChunk()).isEqualTo("data: " + USAGE + "\n\n");
      assertThat(client.read(3)).isEqualTo("0\r\n");
      assertThat(client.read(13)).isEqualTo("x-took: 7\r\n\r\n");
      rig.awaitEvents("sent m a 1", "ended completed 3/4");
    }
  }

  @Test
  void aClientThatLeavesResetsItsStreamAndNoOther() throws Exception {
    try (Http2Backend a = new Http2Backend("a", 100, (stream, request) -> begin(stream));
        Rig rig = rig(a);
        RawHttp other = rig.connect()) {
      other.post(Rig.CHAT, Rig.BODY);
      assertThat(other.readHead().status()).isEqualTo(200);
      Duration soon = Duration.ofMillis(250);
      assertThat(MedianTime.ofFive(soon, () -> leavingTakes(rig, a))).isLessThan(soon);
      assertThat(a.connections).hasSize(1);
      await().until(() -> rig.pool.active().get() == 1);
    }
  }

  /** It sends on until it learns of the reset: all kinds of frames. */
  @Test
  void whatAServerSendsOfAStreamThatWasResetIsPassedOver() throws Exception {
    List<Http2StreamChannel> streams = new CopyOnWriteArrayList<>();
    try (Http2Backend a =
            new Http2Backend(
                "a",
                100,
                (stream, request) -> {
                  streams.add((Http2StreamChannel) stream);
                  begin(stream);
                });
        Rig rig = rig(a);
        RawHttp other = rig.connect()) {
      other.post(Rig.CHAT, Rig.BODY);
      assertThat(other.readHead().status()).isEqualTo(200);
      try (RawHttp client = rig.connect()) {
        client.post(Rig.CHAT, Rig.BODY);
        assertThat(client.readHead().status()).isEqualTo(200);
      }
      await().until(() -> a.closed.get() == 1);
      Http2StreamChannel reset = streams.getLast();
      int id = reset.stream().id();
      byte[] status200 = {(byte) 0x88}; // indexed: no head after it is read wrongly
      for (int i = 0; i < 1_000; i++) {
        late(reset, Http2FrameTypes.DATA, 0, id, new byte[100]);
      }
      late(reset, Http2FrameTypes.HEADERS, 4, id, status200);
      late(reset, Http2FrameTypes.HEADERS, 5, id, status200);
      late(reset, Http2FrameTypes.WINDOW_UPDATE, 0, id, new byte[] {0, 0, 0, 1});
      late(reset, Http2FrameTypes.RST_STREAM, 0, id, new byte[4]);
      piece(streams.getFirst(), "data: 2\n\n");
      assertThat(other.readChunk()).isEqualTo("data: 1\n\n");
      assertThat(other.readChunk()).isEqualTo("data: 2\n\n");
      try (RawHttp later = rig.connect()) {
        later.post(Rig.CHAT, Rig.BODY);
        assertThat(later.readHead().status()).isEqualTo(200);
        // Before this client leaves, which resets its stream as well.
        assertThat(a.connections).hasSize(1);
        assertThat(a.resets).containsExactly(id);
      }
    }
  }

  /** Sends a frame below the codec, which knows of the reset already. */
  private static void late(Http2StreamChannel stream, int type, int flags, int id, byte[] payload) {
    ByteBuf frame = Unpooled.buffer().writeMedium(payload.length).writeByte(type).writeByte(flags);
    frame.writeInt(id).writeBytes(payload);
    var _ = stream.parent().pipeline().firstContext().writeAndFlush(frame);
  }

  /** Below the codec, which makes one frame of several. */
  private static void empty(Channel stream, int frames) {
    Http2StreamChannel to = (Http2StreamChannel) stream;
    for (int i = 0; i < frames; i++) {
      late(to, Http2FrameTypes.DATA, 0, to.stream().id(), new byte[0]);
    }
  }

  /** As servers send them that flush what is nothing: each piece of an answer that has no text. */
  @Test
  void framesThatHoldNothingArePartOfAnAnswer() throws Exception {
    Http2Backend.Script flushing =
        (stream, request) ->
            stream
                .eventLoop()
                .execute(
                    () -> {
                      begin(stream);
                      empty(stream, 500);
                      piece(stream, "data: " + USAGE + "\n\n");
                      empty(stream, 500);
                      var _ = stream.writeAndFlush(new DefaultLastHttpContent());
                    });
    try (Http2Backend a = new Http2Backend("a", 100, flushing);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 20; i++) {
        client.post(Rig.CHAT, Rig.BODY);
        assertThat(client.read().text()).isEqualTo("data: 1\n\ndata: " + USAGE + "\n\n");
      }
      assertThat(a.connections).hasSize(1);
    }
  }

  /** They cost nothing to send, and no window holds them back. */
  @Test
  void aFloodOfThemEndsTheConnection() throws Exception {
    Http2Backend.Script flooding =
        (stream, request) ->
            stream
                .eventLoop()
                .execute(
                    () -> {
                      begin(stream);
                      empty(stream, 20_000);
                    });
    try (Http2Backend a = new Http2Backend("a", 100, flooding);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.readHead().status()).isEqualTo(200);
      assertThat(client.rest()).contains("data: 1").doesNotContain("\r\n0\r\n");
      Channel left = a.connections.element();
      await().until(() -> !left.isActive());
    }
  }

  private static Duration leavingTakes(Rig rig, Http2Backend from) throws Exception {
    int before = from.closed.get();
    long left;
    try (RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.readHead().status()).isEqualTo(200);
      left = System.nanoTime();
    }
    await().pollInterval(Duration.ofMillis(5)).until(() -> from.closed.get() == before + 1);
    return Duration.ofNanos(System.nanoTime() - left);
  }

  @Test
  void whatIsLargeArrivesWhole() throws Exception {
    try (Http2Backend a = new Http2Backend("a", 100, GatewayHttp2BackendIT::ok);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      String body = "{\"model\":\"m\",\"prompt\":\"" + "x".repeat(5_000_000) + "\"}";
      client.post("/v1/completions", body);
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(a.requests.remove().content().readableBytes()).isEqualTo(body.length());
    }
  }

  private static Http2Backend thatOpensNoWindow() {
    return new Http2Backend(
        "a",
        Http2Settings.defaultSettings().initialWindowSize(0),
        (stream, request) -> ok(stream, request));
  }

  /**
   * As with HTTP/1.1, where it is the kernel that gives up. Until the server has said so there is
   * the usual window: what is short and first goes through.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 100_000, 1_000_000})
  void aServerThatTakesNothingOfABodyIsGivenUpAndAnotherAsked(int length) throws Exception {
    // Longer than a connection that was closed while idle takes to say so, and than the one that is
    // well takes for the body, also on a machine that is busy.
    GatewayConfig config =
        Rig.config().withBackends(Rig.config().backends().withStall(Duration.ofSeconds(4)));
    try (Http2Backend a = thatOpensNoWindow();
        Http2Backend b = new Http2Backend("b", 100, GatewayHttp2BackendIT::ok);
        Rig rig = new Rig(config, RequestsConfig.DEFAULT, List.of(a.spec(), b.spec()));
        RawHttp client = rig.connect()) {
      rig.gateway.speakHttp2(true);
      for (int i = 0; i < 100 && !rig.events.contains("sent m b 2 RESET_UNSENT"); i++) {
        client.post(Rig.CHAT, Rig.BODY.replace("hi", i + "x".repeat(length)));
        assertThat(client.read().status()).isEqualTo(200);
      }
      assertThat(rig.events).containsOnlyOnce("sent m b 2 RESET_UNSENT");
      Channel left = a.connections.element();
      await().until(() -> !left.isActive());
    }
  }

  @Test
  void whereThereIsNoOtherTheClientIsToldAndItsBodyKeptNoLonger() throws Exception {
    GatewayConfig config =
        Rig.config().withBackends(Rig.config().backends().withStall(Duration.ofMillis(200)));
    try (Http2Backend a = thatOpensNoWindow();
        Rig rig = new Rig(config, RequestsConfig.DEFAULT, List.of(a.spec()));
        RawHttp client = rig.connect()) {
      rig.gateway.speakHttp2(true);
      client.post(Rig.CHAT, Rig.BODY.replace("hi", "x".repeat(100_000)));
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("upstream_failed");
      await().untilAsserted(() -> assertThat(rig.bodies.used()).isZero());
    }
  }

  @Test
  void aServerThatSaysGoodbyeGetsNothingMoreThere() throws Exception {
    try (Http2Backend a = new Http2Backend("a", 100, GatewayHttp2BackendIT::ok);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      Channel first = a.connections.peek();
      assertThat(first).isNotNull();
      var _ = first.writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
      first.closeFuture().syncUninterruptibly();
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(a.connections).hasSize(2);
      assertThat(rig.events).noneMatch(event -> event.matches("sent \\S+ \\S+ 2 .*"));
    }
  }

  /** A server that restarts says so of what it has not begun with: that may go anywhere. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatSeveralHaveNotBegunWithIsServedByAnother(boolean goodbye) throws Exception {
    AtomicInteger asked = new AtomicInteger();
    Http2Backend.Script refusing =
        (stream, request) -> {
          if (asked.incrementAndGet() > 2) {
            ok(stream, request);
          } else if (goodbye) {
            // Below the codec, which would name this stream as one that it has begun with.
            ByteBuf frame = Unpooled.buffer().writeMedium(8).writeByte(7).writeByte(0);
            var _ = stream.parent().pipeline().firstContext().writeAndFlush(frame.writeZero(12));
          } else {
            var _ = stream.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.REFUSED_STREAM));
          }
        };
    try (Http2Backend a = new Http2Backend("a", 100, refusing);
        Http2Backend b = new Http2Backend("b", 100, refusing);
        Http2Backend c = new Http2Backend("c", 100, refusing);
        Rig rig = rig(a, b, c);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      await().until(() -> rig.pool.active().get() == 0);
      assertThat(rig.events).filteredOn(event -> event.endsWith(" RESET_UNSENT")).hasSize(2);
    }
  }

  /** It has had the request, and may have worked on it: the other one is the second at most. */
  @Test
  void whatIsResetIsNotSentToTheSameServerAgain() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    Http2Backend.Script resetting =
        (stream, request) -> {
          if (asked.incrementAndGet() == 1) {
            ok(stream, request);
          } else {
            var _ = stream.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.INTERNAL_ERROR));
          }
        };
    try (Http2Backend a = new Http2Backend("a", 100, resetting);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(502);
      assertThat(a.requests).hasSize(2);
      assertThat(a.connections).hasSize(1);
    }
  }

  /** As with 400 of a server that speaks HTTP/1.1: three such requests take no server out. */
  @Test
  void whatAServerFindsMalformedIsItsClientsMistake() throws Exception {
    Http2Backend.Script resetting =
        (stream, request) -> {
          var _ = stream.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.PROTOCOL_ERROR));
        };
    try (Http2Backend a = new Http2Backend("a", 100, resetting);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 5; i++) {
        client.post(Rig.CHAT, Rig.BODY);
        RawHttp.Message answer = client.read();
        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.header("content-type")).isEqualTo("application/json");
        assertThat(answer.text())
            .contains("\"code\":\"invalid_http\"", "\"type\":\"invalid_request_error\"");
      }
      client.post("/v1/messages", Rig.BODY);
      assertThat(client.read().text()).startsWith("{\"type\":\"error\",");
      assertThat(a.requests).hasSize(6);
      assertThat(a.connections).hasSize(1);
      await()
          .untilAsserted(
              () ->
                  assertThat(rig.events).filteredOn(e -> e.startsWith("ended invalid")).hasSize(6));
    }
  }

  /** What would follow its head begins the next answer to a client of HTTP/1.1. */
  @Test
  void whereNoBodyWasAskedForARefusalHasNone() throws Exception {
    Http2Backend.Script resetting =
        (stream, request) -> {
          var _ = stream.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.PROTOCOL_ERROR));
        };
    try (Http2Backend a = new Http2Backend("a", 100, resetting);
        Rig rig = rig(a);
        RawHttp client = rig.connect();
        Http2Client other = new Http2Client(rig.gateway.port())) {
      client.send("HEAD /v1/responses/r1 HTTP/1.1\r\nHost: x\r\n\r\n");
      RawHttp.Message answer = client.readHead();
      assertThat(answer.status()).isEqualTo(400);
      assertThat(Integer.parseInt(answer.header("content-length"))).isPositive();
      client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().text()).contains("ok");

      FullHttpRequest head = Http2Client.get("/v1/responses/r1").setMethod(HttpMethod.HEAD);
      Http2Client.Call call = other.call(head).await();
      assertThat(call.status).isEqualTo(400);
      assertThat(call.body()).isEmpty();
      assertThat(call.reset).isNull();
    }
  }

  /** What can't be said in HTTP/1.1 would be read as something else there. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"x y|1", "x|a\\r\\nevil: 1", "x\\r\\nevil|1", "x|a\\0b", "x:y|1", "''|1"})
  void aHeadOrTrailersThatAreNoneEndInAFailure(String escapedName, String escapedValue)
      throws Exception {
    String name = escapedName.translateEscapes();
    String value = escapedValue.translateEscapes();
    for (boolean trailers : List.of(false, true)) {
      Http2Backend.Script odd =
          (stream, request) -> {
            Http2Headers bad = new DefaultHttp2Headers(false).add(name, value);
            if (trailers) {
              Http2Headers good = new DefaultHttp2Headers().status("200");
              var _ = stream.write(new DefaultHttp2HeadersFrame(good));
            } else {
              bad.status("200");
            }
            var _ = stream.writeAndFlush(new DefaultHttp2HeadersFrame(bad, true));
          };
      try (Http2Backend a = new Http2Backend("a", 100, odd);
          Rig rig = rig(a);
          RawHttp client = rig.connect()) {
        client.post(Rig.CHAT, Rig.BODY);
        RawHttp.Message answer = client.read();
        assertThat(answer.status()).isEqualTo(502);
        assertThat(answer.headers()).doesNotContainKey("evil");
        client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
        assertThat(client.read().status()).isEqualTo(200);
      }
    }
  }

  /** Its client would wait for a head that does not come. */
  @Test
  void anInterimHeadThatEndsItsStreamIsNoAnswer() throws Exception {
    Http2Backend.Script early =
        (stream, request) -> {
          Http2Headers head = new DefaultHttp2Headers().status("103");
          var _ = stream.writeAndFlush(new DefaultHttp2HeadersFrame(head, true));
        };
    try (Http2Backend a = new Http2Backend("a", 100, early);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("upstream_failed");
      assertThat(a.connections).hasSize(1);
    }
  }

  /** The server has said how long they may be: what is longer is not sent, and is no failure. */
  @Test
  void headersThatAreLongerThanAServerTakesAreItsClientsMistake() throws Exception {
    Http2Settings bound = Http2Settings.defaultSettings().maxHeaderListSize(2_000);
    try (Http2Backend a = new Http2Backend("a", bound, GatewayHttp2BackendIT::ok);
        Rig rig = rig(a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      for (int i = 0; i < 5; i++) {
        client.send(
            "POST %s HTTP/1.1\r\nHost: x\r\nFoo: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(Rig.CHAT, "x".repeat(5_000), Rig.BODY.length(), Rig.BODY));
        RawHttp.Message answer = client.read();
        assertThat(answer.status()).isEqualTo(431);
        assertThat(answer.text())
            .contains("\"code\":\"header_fields_too_large\"", "\"type\":\"invalid_request_error\"");
        assertThat(answer.headers()).doesNotContainKey("x-fairlead-reject-reason");
      }
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(a.requests).hasSize(2);
      assertThat(a.connections).hasSize(1);
    }
  }

  @Test
  void connectionsThatNobodyUsesAreClosed() throws Exception {
    try (Http2Backend a = new Http2Backend("a", 100, GatewayHttp2BackendIT::ok)) {
      GatewayConfig config =
          Rig.config().withBackends(Rig.config().backends().withIdle(Duration.ofMillis(200)));
      try (Rig rig = new Rig(config, RequestsConfig.DEFAULT, List.of(a.spec()));
          RawHttp client = rig.connect()) {
        rig.gateway.speakHttp2(true);
        client.post(Rig.CHAT, Rig.BODY);
        assertThat(client.read().status()).isEqualTo(200);
        Channel first = a.connections.peek();
        assertThat(first).isNotNull();
        first.closeFuture().syncUninterruptibly();
      }
    }
  }

  @Test
  void aBrokenConnectionIsTriedAgainElsewhere() throws Exception {
    try (Http2Backend a = new Http2Backend("a", 100, GatewayHttp2BackendIT::closeConnection);
        Http2Backend b = new Http2Backend("b", 100, GatewayHttp2BackendIT::ok);
        Rig rig = rig(a, b);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 10; i++) {
        client.post(Rig.CHAT, Rig.BODY);
        assertThat(client.read().status()).isEqualTo(200);
      }
    }
  }
}
