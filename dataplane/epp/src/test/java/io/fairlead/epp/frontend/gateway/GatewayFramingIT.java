package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of HTTP/1 whose head or framing is not served: each is told what is wrong with it. */
@ExtendWith(NoLeaks.class)
class GatewayFramingIT {

  private static RawBackend backend() throws IOException {
    return new RawBackend("a", (connection, request) -> connection.respond(200, "", "{}"));
  }

  private static String head(String version, String headers) {
    return "POST "
        + Rig.CHAT
        + " "
        + version
        + "\r\nHost: x\r\nContent-Type: application/json\r\n"
        + headers
        + "\r\n";
  }

  private static String chunked() {
    return Integer.toHexString(Rig.BODY.length()) + "\r\n" + Rig.BODY + "\r\n0\r\n\r\n";
  }

  private static void isRefused(String request, int status, String code) throws IOException {
    RawBackend a = backend();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.send(request);
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(status);
      assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo(code);
      await().untilAsserted(() -> assertThat(rig.refusals()).containsExactly(code));
      assertThat(a.requests).isEmpty();
    }
  }

  /** They can't be written in HTTP/2, and servers of HTTP/1.1 read them in different ways. */
  @ParameterizedTest
  @ValueSource(strings = {"\0", "\u0001", "\u007f"})
  void controlCharactersAreNoPartOfATarget(String character) throws Exception {
    String length = "Content-Length: " + Rig.BODY.length() + "\r\n";
    String head = head("HTTP/1.1", length).replace(Rig.CHAT, Rig.CHAT + "?a" + character + "b");
    isRefused(head + Rig.BODY, 400, "invalid_http");
  }

  /** Nobody would undo what is not known: an engine would get bytes that it can't read. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "gzip, chunked",
        "deflate,chunked",
        "x,CHUNKED",
        "gzip\r\nTransfer-Encoding: chunked"
      })
  void otherTransferCodingsGet501(String coding) throws Exception {
    String head = head("HTTP/1.1", "Transfer-Encoding: " + coding + "\r\n");
    isRefused(head + chunked(), 501, "unsupported_transfer_coding");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gzip",
        "identity",
        "xchunked",
        "chunked, gzip",
        "chunked, chunked",
        "chunked;a=b",
        ""
      })
  void whereNobodyCouldTellTheEndOfTheBodyTheConnectionEnds(String coding) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.send(head("HTTP/1.1", "Transfer-Encoding: " + coding + "\r\n") + chunked());
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(400);
      assertThat(answer.header("connection")).isEqualTo("close");
      assertThat(client.rest()).isEmpty();
      assertThat(a.requests).isEmpty();
    }
  }

  /** The picker would read the body as the one, and the server perhaps as the other. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Type: multipart/form-data; boundary=b",
        "Content-Type: text/plain",
        "Content-Encoding: identity\r\nContent-Encoding: gzip"
      })
  void aBodyThatIsSaidToBeTwoThingsGets415(String another) throws Exception {
    String length = "Content-Length: " + Rig.BODY.length() + "\r\n";
    isRefused(
        head("HTTP/1.1", another + "\r\n" + length) + Rig.BODY, 415, "unsupported_media_type");
  }

  @Test
  void theSameSaidTwiceIsTaken() throws Exception {
    String length = "Content-Length: " + Rig.BODY.length() + "\r\n";
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp client = rig.connect()) {
      client.send(head("HTTP/1.1", "Content-Type: application/json\r\n" + length) + Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  @Test
  void theConnectionIsGoodForMoreAfterACodingThatIsNotKnown() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp client = rig.connect()) {
      client.send(head("HTTP/1.1", "Transfer-Encoding: gzip, chunked\r\n") + chunked());
      assertThat(client.read().status()).isEqualTo(501);
      client.send(head("HTTP/1.1", "Transfer-Encoding: Chunked\r\n") + chunked());
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP/1.2", "HTTP/1.9"})
  void laterVersionsOfHttp1AreServedAsHttp11(String version) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 2; i++) {
        client.send(head(version, "Content-Length: " + Rig.BODY.length() + "\r\n") + Rig.BODY);
        RawHttp.Message answer = client.read();
        assertThat(answer.start()).startsWith("HTTP/1.1 200");
        assertThat(a.requests.remove().start()).endsWith(" HTTP/1.1");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP/3.0", "HTTP/2.0", "HTTP/0.9"})
  void otherVersionsGet505(String version) throws Exception {
    String head = head(version, "Content-Length: " + Rig.BODY.length() + "\r\n");
    isRefused(head + Rig.BODY, 505, "unsupported_http_version");
  }

  @ParameterizedTest
  @ValueSource(strings = {"FOO/1.1", "HTTP/x", "HTTP/1", "http"})
  void whatIsNoVersionGets400(String version) throws Exception {
    isRefused(head(version, "Content-Length: 2\r\n") + "{}", 400, "invalid_http");
  }

  /** Whoever reads them otherwise would see another request: servers do, RFC 9112 2.2. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /v1/models HTTP/1.1\nHost: x\n\n",
        "GET /v1/models HTTP/1.1\r\nHost: x\nFoo: bar\r\n\r\n",
      })
  void requestsWithLineFeedsAloneGet400(String request) throws Exception {
    isRefused(request, 400, "invalid_http");
  }

  @Test
  void aLineOfChunksThatIsTooLongIsNoUri() throws Exception {
    String head = head("HTTP/1.1", "Transfer-Encoding: chunked\r\n");
    isRefused(head + "1;" + "x".repeat(70_000) + "\r\n", 400, "invalid_http");
  }

  @Test
  void aUriThatIsTooLongGets414() throws Exception {
    isRefused(
        "GET /v1/models?" + "a".repeat(9_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
        414,
        "uri_too_long");
  }

  @Test
  void aHeadThatIsTooLongGets431() throws Exception {
    isRefused(
        head("HTTP/1.1", "Foo: " + "a".repeat(70_000) + "\r\n"), 431, "header_fields_too_large");
  }

  @Test
  void trailersThatAreTooLongGet431() throws Exception {
    isRefused(
        head("HTTP/1.1", "Transfer-Encoding: chunked\r\n")
            + "0\r\nFoo: "
            + "a".repeat(70_000)
            + "\r\n\r\n",
        431,
        "header_fields_too_large");
  }

  /** However short they are: here a field costs many times its bytes. */
  @Test
  void aHeadOfTooManyFieldsGets431BeforeItsEnd() throws Exception {
    String begun = "GET /v1/models HTTP/1.1\r\nHost: x\r\n" + "a:\r\n".repeat(300);
    isRefused(begun, 431, "header_fields_too_large");
  }

  @Test
  void trailersOfTooManyFieldsGet431BeforeTheirEnd() throws Exception {
    isRefused(
        head("HTTP/1.1", "Transfer-Encoding: chunked\r\n") + "0\r\n" + "a:\r\n".repeat(300),
        431,
        "header_fields_too_large");
  }

  @Test
  void asManyFieldsAsOtherProxiesPassOnAreServed() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp client = rig.connect()) {
      client.send(
          head("HTTP/1.1", "a:\r\n".repeat(150) + "Transfer-Encoding: chunked\r\n") + chunked());
      assertThat(client.read().status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @CsvSource({"zz", "-1", "0x5", "FFFFFFFFFFFFFFFFF", "''"})
  void aBadChunkIsCalledThat(String size) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.send(
          head("HTTP/1.1", "Transfer-Encoding: chunked\r\n") + size + "\r\n{}\r\n0\r\n\r\n");
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(400);
      assertThat(answer.text()).contains("chunk").doesNotContain("cut off");
      assertThat(answer.header("connection")).isEqualTo("close");
    }
  }
}
