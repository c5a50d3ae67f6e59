package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.Http2Client;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pages in a browser that come from elsewhere: it asks first whether they may call. */
@ExtendWith(NoLeaks.class)
class GatewayBrowsersIT {

  private static final String PAGE = "https://chat.example";

  private static RawBackend backend() throws IOException {
    return new RawBackend(
        "a",
        (connection, request) ->
            connection.respond(200, "Access-Control-Allow-Origin: https://own.example\r\n", "{}"));
  }

  /** What a browser asks before a page calls. */
  private static RawHttp.Message ask(RawHttp client, String path, String headers)
      throws IOException {
    client.send("OPTIONS " + path + " HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");
    return client.read();
  }

  private static String asking(String method) {
    return "Origin: " + PAGE + "\r\nAccess-Control-Request-Method: " + method + "\r\n";
  }

  @ParameterizedTest
  @CsvSource({Rig.CHAT + ",POST", "/v1/models,'GET, HEAD'"})
  void anyPageMayCallUnlessItIsSaidWhich(String path, String methods) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      String headers = "Access-Control-Request-Headers: authorization,content-type\r\n";
      RawHttp.Message may = ask(client, path, asking("POST") + headers);
      assertThat(may.status()).isEqualTo(200);
      assertThat(may.text()).isEmpty();
      assertThat(may.headers())
          .containsEntry("access-control-allow-origin", "*")
          .containsEntry("access-control-allow-methods", methods)
          .containsEntry("access-control-allow-headers", "authorization,content-type")
          .containsEntry("access-control-max-age", "600")
          .doesNotContainKeys("content-type", "access-control-allow-credentials");
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
    }
    assertThat(a.requests).as("no endpoint is asked").hasSize(1);
  }

  @Test
  void overHttp2Too() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        Http2Client client = new Http2Client(rig.gateway.port())) {
      FullHttpRequest asks = Http2Client.get(Rig.CHAT);
      asks.setMethod(HttpMethod.OPTIONS);
      asks.headers().set("origin", PAGE).set("access-control-request-method", "POST");
      Http2Client.Call may = client.call(asks).await();
      assertThat(may.status).isEqualTo(200);
      assertThat(may.header("access-control-allow-origin")).isEqualTo("*");
      assertThat(may.header("access-control-allow-methods")).isEqualTo("POST");
    }
  }

  /** Else a page would learn of neither, but that something went wrong. */
  @Test
  void whatTheGatewayAnswersItselfMayBeReadAndAnEndpointSaysForItself() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp client = rig.connect()) {
      String from = "Host: h\r\nOrigin: " + PAGE + "\r\n";
      for (String path : List.of("/v1/models", "/nothing")) {
        client.send("GET " + path + " HTTP/1.1\r\n" + from + "\r\n");
        assertThat(client.read().header("access-control-allow-origin")).isEqualTo("*");
      }
      from += "Content-Type: application/json\r\n";
      String length = "Content-Length: " + Rig.BODY.length() + "\r\n\r\n";
      client.send("POST " + Rig.CHAT + " HTTP/1.1\r\n" + from + length + Rig.BODY);
      assertThat(client.read().header("access-control-allow-origin"))
          .isEqualTo("https://own.example");

      client.send("GET /v1/models HTTP/1.1\r\nHost: h\r\n\r\n");
      assertThat(client.read().headers()).doesNotContainKey("access-control-allow-origin");
    }
  }

  @Test
  void onlyThosePagesMayCallThatAreAllowed() throws Exception {
    AllowedOrigins some = AllowedOrigins.of("https://other.example", PAGE);
    try (Rig rig = new Rig(Rig.config().withOrigins(some), backend());
        RawHttp client = rig.connect()) {
      RawHttp.Message may = ask(client, Rig.CHAT, asking("POST"));
      assertThat(may.status()).isEqualTo(200);
      assertThat(may.headers())
          .containsEntry("access-control-allow-origin", PAGE)
          .containsEntry("vary", "origin")
          .doesNotContainKey("access-control-allow-headers");

      RawHttp.Message mayNot =
          ask(client, Rig.CHAT, asking("POST").replace(PAGE, "https://bad.example"));
      assertThat(mayNot.status()).isEqualTo(405);
      assertThat(mayNot.headers()).doesNotContainKey("access-control-allow-origin");
    }
  }

  @Test
  void whatIsNoQuestionOfABrowsersIsNoMethodOfThePath() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp client = rig.connect()) {
      assertThat(ask(client, Rig.CHAT, "").status()).isEqualTo(405);
      assertThat(ask(client, "/nothing", asking("POST")).status()).isEqualTo(404);
    }
    AllowedOrigins none = AllowedOrigins.of();
    try (Rig rig = new Rig(Rig.config().withOrigins(none), backend());
        RawHttp client = rig.connect()) {
      assertThat(ask(client, Rig.CHAT, asking("POST")).status()).isEqualTo(405);
    }
  }
}
