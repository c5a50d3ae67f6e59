package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.epp.HeaderPlugin;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Headers between clients, plugins and endpoints, on sockets. */
@ExtendWith(NoLeaks.class)
class GatewayHeadersIT {

  @Test
  void pluginsSeeAndSetHeadersAndClientsCannotSteerSidecars() throws Exception {
    RawBackend backend =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.respond(
                    200, "Content-Type: application/json\r\nX-Session-Token: its own\r\n", "{}"));
    try (Rig rig = new Rig(Rig.config(), backend)) {
      rig.pool
          .configure(
              new ConfigCompiler(List.of(new HeaderPlugin.Factory()))
                  .compile(
                      new PoolConfig(
                          "n", "p", Map.of(), List.of(1), "http", List.of(), HeaderPlugin.ALONE)))
          .syncUninterruptibly();
      try (RawHttp client = rig.connect()) {
        client.send(
            "POST "
                + Rig.CHAT
                + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nX-Team: blue\r\n"
                + "X-Prefiller-Host-Port: 6.6.6.6:6\r\nx-encoder-hosts-ports: 6.6.6.6:6\r\n"
                + "X-Gateway-Destination-Endpoint: 6.6.6.6:6\r\nContent-Length: "
                + Rig.BODY.getBytes(StandardCharsets.UTF_8).length
                + "\r\n\r\n"
                + Rig.BODY);
        RawHttp.Message response = client.read();

        assertThat(response.status()).isEqualTo(200);
        assertThat(response.header("x-session-token")).isEqualTo("token-of-a");
      }
      assertThat(backend.requests.remove().headers())
          .containsEntry("x-prefiller-host-port", "10.9.9.9:1")
          .containsEntry("x-team-seen", "blue")
          .containsEntry("X-Team", "blue")
          .doesNotContainKeys("x-encoder-hosts-ports", "X-Gateway-Destination-Endpoint");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "true,1500ms,504,",
    "false,1500ms,200,untrusted",
    "true,soon,200,invalid",
    "true,-1s,200,invalid",
    "true,0s,200,invalid",
    "true,100000h,200,invalid"
  })
  void aRequestsOwnTimeoutCountsWhereItIsTrustedAndMakesSense(
      boolean trusted, String timeout, int status, @Nullable String ignored) throws Exception {
    CountDownLatch answered = new CountDownLatch(status == 200 ? 0 : 1);
    RawBackend backend =
        new RawBackend(
            "a",
            (connection, request) -> {
              answered.await();
              connection.respond(200, "", "{}");
            });
    RequestsConfig usual = RequestsConfig.DEFAULT;
    RequestsConfig requests =
        new RequestsConfig(
            usual.unconfiguredModels(), usual.timeouts(), trusted, usual.retryBudgetPercent());
    try (Rig rig = new Rig(Rig.config(), requests, List.of(backend.spec()), backend);
        RawHttp client = rig.connect()) {
      client.send(
          "POST "
              + Rig.CHAT
              + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
              + "X-Fairlead-Timeout-First-Byte: "
              + timeout
              + "\r\nContent-Length: "
              + Rig.BODY.length()
              + "\r\n\r\n"
              + Rig.BODY);
      assertThat(client.read().status()).isEqualTo(status);
      // It may be refused before its endpoint has read it.
      await().until(() -> !backend.requests.isEmpty());
      assertThat(backend.requests.remove().headers())
          .doesNotContainKey("x-fairlead-timeout-first-byte");
      if (ignored == null) {
        assertThat(rig.events).contains("rejected m first_byte_timeout");
      } else {
        assertThat(rig.events).contains("timeout header ignored: " + ignored);
      }
    } finally {
      answered.countDown();
    }
  }

  private static RawHttp.Message ask(Rig rig, RawBackend backend, String headers) throws Exception {
    try (RawHttp client = rig.connect()) {
      client.send(
          "POST "
              + Rig.CHAT
              + " HTTP/1.1\r\nHost: models.example:81\r\nContent-Type: application/json\r\n"
              + headers
              + "Content-Length: "
              + Rig.BODY.length()
              + "\r\n\r\n"
              + Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
    }
    return backend.requests.remove();
  }

  @Test
  void tellsTheEndpointWhichWayARequestCame() throws Exception {
    RawBackend backend =
        new RawBackend("a", (connection, request) -> connection.respond(200, "", "{}"));
    try (Rig rig = new Rig(Rig.config(), backend)) {
      assertThat(ask(rig, backend, "").headers())
          .containsEntry("x-forwarded-for", "127.0.0.1")
          .containsEntry("x-forwarded-proto", "http")
          .containsEntry("x-forwarded-host", "models.example:81")
          .containsEntry("via", "1.1 fairlead")
          .containsEntry("host", "models.example:81")
          .doesNotContainKey("traceparent");

      String trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
      assertThat(
              ask(
                      rig,
                      backend,
                      "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 5.6.7.8\r\n"
                          + "X-Forwarded-Proto: https\r\nX-Forwarded-Host: first\r\n"
                          + "Via: 2.0 front\r\nTraceparent: "
                          + trace
                          + "\r\nTracestate: a=b\r\n")
                  .headers())
          .as("what proxies before told stays")
          .containsEntry("x-forwarded-for", "1.2.3.4, 5.6.7.8, 127.0.0.1")
          .containsEntry("x-forwarded-proto", "https")
          .containsEntry("x-forwarded-host", "first")
          .containsEntry("via", "2.0 front, 1.1 fairlead")
          .containsEntry("traceparent", trace)
          .containsEntry("tracestate", "a=b");
    }
  }

  /**
   * RFC 9112 3.2.2: what else a proxy before this one goes by, and what the server does, differ.
   */
  @Test
  void theHostOfAnAbsoluteTargetCountsInThePlaceOfTheHeaders() throws Exception {
    RawBackend backend =
        new RawBackend("a", (connection, request) -> connection.respond(200, "", "{}"));
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp client = rig.connect()) {
      client.send(
          "POST http://other.example:82"
              + Rig.CHAT
              + "?a=http://b/c HTTP/1.1\r\nHost: models.example\r\n"
              + "Content-Type: application/json\r\nContent-Length: "
              + Rig.BODY.length()
              + "\r\n\r\n"
              + Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      RawHttp.Message seen = backend.requests.remove();
      assertThat(seen.start()).isEqualTo("POST " + Rig.CHAT + "?a=http://b/c HTTP/1.1");
      assertThat(seen.headers())
          .containsEntry("host", "other.example:82")
          .containsEntry("x-forwarded-host", "other.example:82");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://", "http://user@models.example", "http://a<b"})
  void anAbsoluteTargetWithoutAProperHostIsRefused(String beginning) throws Exception {
    RawBackend backend =
        new RawBackend("a", (connection, request) -> connection.respond(200, "", "{}"));
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp client = rig.connect()) {
      client.send(
          "POST "
              + beginning
              + Rig.CHAT
              + " HTTP/1.1\r\nHost: models.example\r\n"
              + "Content-Type: application/json\r\nContent-Length: "
              + Rig.BODY.length()
              + "\r\n\r\n"
              + Rig.BODY);
      assertThat(client.read().status()).isEqualTo(400);
      assertThat(rig.refusals()).containsExactly("invalid_http");
      assertThat(backend.requests).isEmpty();
    }
  }

  @Test
  void headersOfOneHopEndHereInBothDirections() throws Exception {
    String hop =
        String.join(
            "\r\n",
            "Connection: x-private, keep-alive",
            "X-Private: 1",
            "Keep-Alive: timeout=5",
            "TE: trailers",
            "Upgrade: h3",
            "Proxy-Connection: keep-alive",
            "Proxy-Authorization: Basic x",
            "HTTP2-Settings: AAAA",
            "");
    RawBackend backend =
        new RawBackend("a", (connection, request) -> connection.respond(200, hop, "{}"));
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp client = rig.connect()) {
      client.send(
          "POST "
              + Rig.CHAT
              + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
              + hop
              + "Content-Length: "
              + Rig.BODY.length()
              + "\r\n\r\n"
              + Rig.BODY);
      RawHttp.Message answer = client.read();
      String[] gone = {
        "x-private",
        "keep-alive",
        "te",
        "upgrade",
        "proxy-connection",
        "proxy-authorization",
        "http2-settings",
        "connection"
      };
      assertThat(answer.headers()).doesNotContainKeys(gone);
      assertThat(backend.requests.remove().headers()).doesNotContainKeys(gone);
    }
  }

  @Test
  void anIdIsKeptOrMadeAndToldToBothSides() throws Exception {
    RawBackend backend =
        new RawBackend("a", (connection, request) -> connection.respond(200, "", "{}"));
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      String made = client.read().header("x-request-id");
      assertThat(made).hasSize(32);
      assertThat(backend.requests.remove().header("x-request-id")).isEqualTo(made);

      client.send("GET /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n\r\n");
      assertThat(client.read().header("x-request-id")).isEqualTo("mine");
    }
  }

  @Test
  void trailersPassInBothDirections() throws Exception {
    String end = "0\r\nx-sum: 5\r\n\r\n";
    RawBackend backend =
        new RawBackend(
            "a",
            connection -> {
              RawHttp.Message head = connection.readHead();
              String all = connection.readChunk() + connection.read(end.length());
              return new RawHttp.Message(
                  head.start(), head.headers(), all.getBytes(StandardCharsets.UTF_8));
            },
            (connection, request) -> {
              connection.send(
                  "HTTP/1.1 200 OK\r\nTrailer: x-took\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.chunk("{}");
              connection.send("0\r\nx-took: 7\r\nx-fairlead-y: 1\r\n\r\n");
            });
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp client = rig.connect()) {
      client.send(
          "POST "
              + Rig.CHAT
              + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTrailer: x-sum\r\n"
              + "Transfer-Encoding: chunked\r\n\r\n");
      client.chunk(Rig.BODY);
      client.send("0\r\nx-sum: 5\r\nx-gateway-y: 1\r\n\r\n");
      RawHttp.Message head = client.readHead();
      assertThat(head.header("trailer")).isEqualTo("x-took");
      client.readChunk();
      assertThat(client.read(3)).isEqualTo("0\r\n");
      assertThat(client.read(13)).isEqualTo("x-took: 7\r\n\r\n");
      RawHttp.Message request = backend.requests.remove();
      assertThat(request.header("transfer-encoding")).isEqualTo("chunked");
      assertThat(request.text()).isEqualTo(Rig.BODY + end);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'Host: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n'",
    "'Host: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n'",
    "'Host: a\r\nContent-Length: 2, 3\r\n'",
    "'Host: a\r\nContent-Length: -2\r\n'",
    "'Host: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n'",
    "'Host: a\r\nTransfer-Encoding: chunked, chunked\r\n'",
    "'Host: a\r\nTransfer-Encoding: gzip\r\n'",
    "'Content-Length: 2\r\n'",
    "'Host: a\r\nHost: a\r\nContent-Length: 2\r\n'",
    "'Host: a b\r\nContent-Length: 2\r\n'",
    "'Host: a/b\r\nContent-Length: 2\r\n'",
    "'Host: a@b\r\nContent-Length: 2\r\n'",
    "'Host : a\r\nContent-Length: 2\r\n'",
    "'Host: a\r\n folded\r\nContent-Length: 2\r\n'",
  })
  void whatTwoServersCouldReadInTwoWaysIsRefused(String headers) throws Exception {
    RawBackend backend =
        new RawBackend("a", (connection, request) -> connection.respond(200, "", "{}"));
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp client = rig.connect()) {
      client.send(
          "POST "
              + Rig.CHAT
              + " HTTP/1.1\r\nContent-Type: application/json\r\n"
              + headers.replace("\\r\\n", "\r\n")
              + "\r\n{}");
      assertThat(client.read().status()).isEqualTo(400);
      assertThat(backend.requests).isEmpty();
    }
  }
}
