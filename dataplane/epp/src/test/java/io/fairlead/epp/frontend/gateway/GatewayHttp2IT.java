package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.Http2Client;
import io.fairlead.epp.sockets.MedianTime;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.util.concurrent.Future;
import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Clients that speak HTTP/2, in plain text and in TLS. */
@ExtendWith(NoLeaks.class)
class GatewayHttp2IT {

  private static final Duration SOON = Duration.ofMillis(250);

  private static void ok(RawHttp connection, RawHttp.Message request) throws IOException {
    connection.respond(
        200, "Content-Type: application/json\r\nConnection: x\r\nX: 1\r\n", "{\"choices\":[]}");
  }

  @Test
  void aRequestIsServedAsOneOfHttp11Is() throws Exception {
    RawBackend a = new RawBackend("a", GatewayHttp2IT::ok);
    try (Rig rig = new Rig(Rig.config(), a);
        Http2Client client = new Http2Client(rig.gateway.port())) {
      Http2Client.Call call = client.call(Http2Client.post(Rig.CHAT + "?x=1", Rig.BODY)).await();

      assertThat(call.status).isEqualTo(200);
      assertThat(call.body()).isEqualTo("{\"choices\":[]}");
      assertThat(call.header("content-type")).isEqualTo("application/json");
      assertThat(call.header("x")).as("listed in 'connection'").isEmpty();
      assertThat(call.header("x-request-id")).hasSize(32);
      RawHttp.Message seen = a.requests.remove();
      assertThat(seen.start()).isEqualTo("POST " + Rig.CHAT + "?x=1 HTTP/1.1");
      assertThat(seen.text()).isEqualTo(Rig.BODY);
      assertThat(seen.headers())
          .containsEntry("host", "h2.example")
          .containsEntry("via", "2.0 fairlead")
          .containsEntry("x-forwarded-for", "127.0.0.1")
          .containsEntry("x-forwarded-proto", "http")
          .containsEntry("content-length", Integer.toString(Rig.BODY.length()));
      assertThat(seen.headers().keySet()).noneMatch(name -> name.startsWith("x-http2"));
      rig.awaitEvents("sent m a 1", "ended completed -1/-1");

      assertThat(client.call(Http2Client.get("/health")).await().body()).contains("ok");
      assertThat(client.call(Http2Client.get("/v1/models")).await().status).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @CsvSource({"/health,200", "/v1/models,200", "/version,200", "/nothing,404"})
  void aHeadIsAnsweredWithoutABody(String path, int status) throws Exception {
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", GatewayHttp2IT::ok));
        Http2Client client = new Http2Client(rig.gateway.port())) {
      Http2Client.Call head = client.call(Http2Client.get(path).setMethod(HttpMethod.HEAD)).await();
      assertThat(head.status).isEqualTo(status);
      assertThat(head.body()).isEmpty();
      Http2Client.Call get = client.call(Http2Client.get(path)).await();
      assertThat(head.header("content-length"))
          .isEqualTo(get.header("content-length"))
          .isEqualTo(Integer.toString(get.body().length()));
    }
  }

  @Test
  void manyStreamsAreServedAtATimeAndInAnyOrder() throws Exception {
    CountDownLatch others = new CountDownLatch(1);
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              if (request.text().contains("\"first\"")) {
                others.await();
              }
              connection.respond(200, "", request.text());
            });
    try (Rig rig = new Rig(Rig.config(), a);
        Http2Client client = new Http2Client(rig.gateway.port())) {
      Http2Client.Call first = client.call(Http2Client.post("/v1/completions", prompt("first")));
      List<Http2Client.Call> calls = new ArrayList<>();
      for (int i = 0; i < 90; i++) {
        calls.add(client.call(Http2Client.post("/v1/completions", prompt("p" + i))));
      }
      for (int i = 0; i < calls.size(); i++) {
        assertThat(calls.get(i).await().body()).isEqualTo(prompt("p" + i));
      }
      others.countDown();
      assertThat(first.await().body()).isEqualTo(prompt("first"));
    }
  }

  /** Its client has done nothing wrong, and may have it from a proxy that many share. */
  @Test
  void answersThatBreakOffEndNoOtherStreamHoweverManyTheyAre() throws Exception {
    CountDownLatch others = new CountDownLatch(1);
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.chunk("begun");
              if (request.text().contains("\"open\"")) {
                others.await();
                connection.chunk("ended");
                connection.chunk("");
              } else {
                connection.close();
              }
            });
    try (Rig rig = new Rig(Rig.config(), a);
        Http2Client client = new Http2Client(rig.gateway.port())) {
      Http2Client.Call open = client.call(Http2Client.post("/v1/completions", prompt("open")));
      open.awaitHead();
      for (int i = 0; i < 250; i++) {
        Http2Client.Call broken =
            client.call(Http2Client.post("/v1/completions", prompt("broken"))).await();
        assertThat(broken.reset).isEqualTo(Http2Error.INTERNAL_ERROR);
      }
      others.countDown();
      assertThat(open.await().body()).isEqualTo("begunended");
      assertThat(client.call(Http2Client.post("/v1/completions", prompt("open"))).await().body())
          .isEqualTo("begunended");
      assertThat(client.goAways).isEmpty();
    }
  }

  private static String prompt(String text) {
    return "{\"model\":\"m\",\"prompt\":\"" + text + "\"}";
  }

  private static HttpRequest head() {
    HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, Rig.CHAT);
    head.headers().set("host", "h").set("content-type", "application/json");
    return head;
  }

  @Test
  void bodiesAndTrailersPassInPiecesInBothDirections() throws Exception {
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.chunk("data: 1\n\n");
              connection.chunk("data: 2\n\n");
              connection.send("0\r\nx-took: 7\r\n\r\n");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        Http2Client client = new Http2Client(rig.gateway.port())) {
      LastHttpContent last =
          new DefaultLastHttpContent(Unpooled.copiedBuffer(Rig.BODY.substring(9), UTF_8));
      last.trailingHeaders().set("x-sum", "5");
      Http2Client.Call call =
          client
              .call(
                  head(),
                  new DefaultHttpContent(Unpooled.copiedBuffer(Rig.BODY.substring(0, 9), UTF_8)),
                  last)
              .await();

      assertThat(call.body()).isEqualTo("data: 1\n\ndata: 2\n\n");
      assertThat(call.pieces).as("no event is cut").allMatch(piece -> piece.endsWith("\n\n"));
      HttpHeaders trailers = call.trailers;
      assertThat(trailers).isNotNull();
      assertThat(trailers.get("x-took")).isEqualTo("7");
      RawHttp.Message seen = a.requests.remove();
      assertThat(seen.text()).isEqualTo(Rig.BODY);
      assertThat(seen.header("transfer-encoding")).isEqualTo("chunked");
    }
  }

  @Test
  void aBodyOfMegabytesArrivesWhole() throws Exception {
    RawBackend a =
        new RawBackend("a", (connection, request) -> connection.respond(200, "", request.text()));
    try (Rig rig = new Rig(Rig.config(), a);
        Http2Client client = new Http2Client(rig.gateway.port())) {
      String body = prompt("é".repeat(2_000_000));
      Http2Client.Call call = client.call(Http2Client.post("/v1/completions", body)).await();
      assertThat(call.status).isEqualTo(200);
      assertThat(call.body().length()).isGreaterThan(1_999_000);
      assertThat(a.requests.remove().text()).isEqualTo(body);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "/nothing,application/json,{},404",
    "/v1/chat/completions,application/json,{,400",
    "/v1/chat/completions,text/plain,{},415",
    "/v1/models,application/json,{},405",
  })
  void whatIsRefusedIsAnsweredAndOtherStreamsGoOn(String path, String type, String body, int status)
      throws Exception {
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", GatewayHttp2IT::ok));
        Http2Client client = new Http2Client(rig.gateway.port())) {
      var request = Http2Client.post(path, body);
      request.headers().set("content-type", type);
      assertThat(client.call(request).await().status).isEqualTo(status);
      assertThat(client.call(Http2Client.post(Rig.CHAT, Rig.BODY)).await().status).isEqualTo(200);
      assertThat(client.goAways).isEmpty();
    }
  }

  @Test
  void aBodyOverTheLimitGets413() throws Exception {
    try (Rig rig =
            new Rig(Rig.config().withMaxBodyBytes(1_000), new RawBackend("a", GatewayHttp2IT::ok));
        Http2Client client = new Http2Client(rig.gateway.port())) {
      Http2Client.Call call =
          client
              .call(
                  head(),
                  new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[600])),
                  new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[600])))
              .await();
      assertThat(call.status).isEqualTo(413);
      assertThat(client.call(Http2Client.post(Rig.CHAT, Rig.BODY)).await().status).isEqualTo(200);
    }
  }

  @Test
  void whatBreaksInItsMiddleIsResetAndNotEnded() throws Exception {
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.chunk("half");
              connection.close();
            });
    try (Rig rig = new Rig(Rig.config(), a);
        Http2Client client = new Http2Client(rig.gateway.port())) {
      Http2Client.Call call = client.call(Http2Client.post(Rig.CHAT, Rig.BODY)).await();
      assertThat(call.body()).isEqualTo("half");
      assertThat(call.trailers).as("no proper end").isNull();
      assertThat(call.reset).isEqualTo(Http2Error.INTERNAL_ERROR);
      rig.awaitEvents("sent m a 1", "ended failed -1/-1");
    }
  }

  /** How a client leaves. */
  enum Leaving {
    RESET_OF_THE_STREAM,
    CLOSE_OF_THE_CONNECTION
  }

  @ParameterizedTest
  @EnumSource
  void aClientThatLeavesCancelsItsRequest(Leaving how) throws Exception {
    for (boolean begun : new boolean[] {false, true}) {
      assertThat(MedianTime.ofFive(SOON, () -> leavingTakes(how, begun))).isLessThan(SOON);
    }
  }

  /** How long it takes until the endpoint sees that its client has left. */
  private static Duration leavingTakes(Leaving how, boolean begun) throws Exception {
    AtomicLong closedAt = new AtomicLong();
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              if (begun) {
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                connection.chunk("x");
              }
              connection.closed();
              closedAt.set(System.nanoTime());
              throw new EOFException("closed by the gateway");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        Http2Client client = new Http2Client(rig.gateway.port())) {
      Http2Client.Call call = client.call(Http2Client.post(Rig.CHAT, Rig.BODY));
      await().until(() -> begun ? !call.pieces.isEmpty() : !a.requests.isEmpty());
      long left = System.nanoTime();
      if (how == Leaving.RESET_OF_THE_STREAM) {
        call.reset();
      } else {
        client.channel.close().syncUninterruptibly();
      }
      rig.awaitEvents("sent m a 1", "ended disconnected -1/-1");
      await().until(() -> closedAt.get() != 0);
      return Duration.ofNanos(closedAt.get() - left);
    }
  }

  @Test
  void aStreamThatIsNotReadHoldsItsBackendBackAndNoOther() throws Exception {
    AtomicLong written = new AtomicLong();
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              if (request.text().contains("\"much\"")) {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
                byte[] piece = new byte[64 << 10];
                while (true) {
                  connection.send(piece);
                  written.addAndGet(piece.length);
                }
              }
              connection.respond(200, "", "{}");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        Http2Client client = new Http2Client(rig.gateway.port())) {
      Http2Client.Call stuck =
          client.callWithoutReading(Http2Client.post("/v1/completions", prompt("much")));
      long[] before = {-1};
      await()
          .pollInterval(Duration.ofMillis(300))
          .until(
              () -> {
                boolean stalled = written.get() > 0 && written.get() == before[0];
                before[0] = written.get();
                return stalled;
              });
      assertThat(written.get()).isLessThan(50_000_000);
      assertThat(client.call(Http2Client.get("/health")).await().status).isEqualTo(200);
      stuck.reset();
      await().untilAsserted(() -> assertThat(a.closed).hasValue(1));
    }
  }

  @Test
  void theEndOfTheGatewayCutsNoStream() throws Exception {
    CountDownLatch finish = new CountDownLatch(1);
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.chunk("before");
              finish.await();
              connection.chunk("after");
              connection.chunk("");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        Http2Client client = new Http2Client(rig.gateway.port());
        Http2Client idle = new Http2Client(rig.gateway.port())) {
      assertThat(idle.call(Http2Client.get("/health")).await().status).isEqualTo(200);
      Http2Client.Call call = client.call(Http2Client.post(Rig.CHAT, Rig.BODY));
      await().until(() -> call.pieces.size() == 1);

      Future<?> drained = rig.gateway.drain(Duration.ofSeconds(2), Duration.ofMinutes(1));
      await().until(() -> !client.goAways.isEmpty() && !idle.goAways.isEmpty());
      idle.channel.closeFuture().syncUninterruptibly();
      assertThat(drained.isDone()).isFalse();
      finish.countDown();
      assertThat(call.await().body()).isEqualTo("beforeafter");
      assertThat(call.trailers).isNotNull();
      client.channel.closeFuture().syncUninterruptibly();
      drained.syncUninterruptibly();
    }
  }

  @Test
  void aConnectionWithoutStreamsIsClosed() throws Exception {
    GatewayConfig config =
        Rig.config().withClients(ClientBounds.DEFAULT.withIdle(Duration.ofSeconds(2)));
    try (Rig rig = new Rig(config, new RawBackend("a", GatewayHttp2IT::ok))) {
      // All of its request is there before its time begins.
      CountDownLatch held = rig.holdDecisions();
      try (Http2Client client = new Http2Client(rig.gateway.port())) {
        Http2Client.Call call = client.call(Http2Client.post(Rig.CHAT, Rig.BODY));
        client.channel.eventLoop().submit(() -> {}).syncUninterruptibly();
        held.countDown();
        assertThat(call.await().status).isEqualTo(200);
        client.channel.closeFuture().syncUninterruptibly();
        assertThat(client.goAways).isNotEmpty();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP_2", "HTTP_1_1"})
  void overTlsAClientGetsWhatItSpeaks(String version) throws Exception {
    RawBackend a = new RawBackend("a", GatewayHttp2IT::ok);
    try (Rig rig = new Rig(Rig.config().withSecurity(new ServingSecurity.SelfSigned()), a);
        HttpClient client =
            HttpClient.newBuilder()
                .version(HttpClient.Version.valueOf(version))
                .sslContext(trustingAnyone())
                .build()) {
      for (int i = 0; i < 3; i++) {
        HttpResponse<String> answer =
            client.send(
                java.net.http.HttpRequest.newBuilder(
                        URI.create("https://127.0.0.1:" + rig.gateway.port() + Rig.CHAT))
                    .header("content-type", "application/json")
                    .POST(java.net.http.HttpRequest.BodyPublishers.ofString(Rig.BODY))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.version()).hasToString(version);
        assertThat(answer.body()).isEqualTo("{\"choices\":[]}");
        assertThat(a.requests.remove().headers()).containsEntry("x-forwarded-proto", "https");
      }
    }
  }

  @Test
  void trailersThatAreTooLongGet431() throws Exception {
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", GatewayHttp2IT::ok));
        Http2Client client = new Http2Client(rig.gateway.port())) {
      HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, Rig.CHAT);
      head.headers().set("host", "x").set("content-type", "application/json");
      LastHttpContent last = new DefaultLastHttpContent(Unpooled.copiedBuffer(Rig.BODY, UTF_8));
      last.trailingHeaders().set("foo", "x".repeat(70_000));
      Http2Client.Call call = client.call(head, last).await();
      assertThat(call.status).isEqualTo(431);
      assertThat(rig.refusals()).containsExactly("header_fields_too_large");
    }
  }

  @Test
  void aClientThatResetsItsConnectionBeforeItSpeaksIsNothingToLog() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger netty = (Logger) LoggerFactory.getLogger("io.netty");
    netty.addAppender(log);
    RawBackend a = new RawBackend("a", GatewayHttp2IT::ok);
    try (Rig rig = new Rig(Rig.config().withSecurity(new ServingSecurity.SelfSigned()), a);
        RawHttp client = rig.connect()) {
      await().until(() -> rig.gateway.connections() == 1);
      client.reset();
      await().until(() -> rig.gateway.connections() == 0);
      assertThat(log.list).isEmpty();
    } finally {
      netty.detachAppender(log);
    }
  }

  private static SSLContext trustingAnyone() throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Anyone()}, null);
    return context;
  }

  private static final class Anyone extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, java.net.Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
