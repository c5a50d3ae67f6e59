package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeaderRulesTest {

  /** What nobody may make a string of. */
  private record Untold(AsciiString text) implements CharSequence {

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      throw new AssertionError("a part of " + text);
    }

    @Override
    public String toString() {
      throw new AssertionError("a string of " + text);
    }
  }

  private static Untold untold(String text) {
    return new Untold(AsciiString.of(text));
  }

  private static HttpHeaders request() {
    HttpHeaders headers = HeaderRules.none();
    for (int i = 0; i < 20; i++) {
      headers.add(untold("X-Header-" + i), untold("value " + i));
    }
    headers.add(untold("Transfer-Encoding"), untold("chunked"));
    headers.add("X-Team", AsciiString.of("blue"));
    return headers;
  }

  /** As the decoder gives it, with a character for each byte. */
  @Test
  void readsNamesInUtf8() {
    assertThat(HeaderRules.text("caf\u00c3\u00a9")).isEqualTo("caf\u00e9");
    assertThat(HeaderRules.text("caf\u00e9")).as("Latin 1").isEqualTo("caf\u00e9");
    assertThat(HeaderRules.text("plain")).isEqualTo("plain");
  }

  @Test
  void headersThatNobodyAsksForBecomeNoStrings() {
    HttpHeaders request = request();

    HeaderCopy copy = new HeaderCopy(request);
    assertThat(copy.first("x-team")).isEqualTo("blue");
    assertThat(copy.first("x-other")).isNull();
    assertThat(HeaderRules.toBackend(request).size()).isEqualTo(21);
    assertThat(HeaderRules.toClient(request).size()).isEqualTo(21);
  }

  @Test
  void aCopyStaysAsItIs() {
    HttpHeaders request = request();
    HeaderCopy copy = new HeaderCopy(request);
    request.set("X-Team", "red");
    assertThat(copy.first("x-team")).isEqualTo("blue");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authenticate",
        "te",
        "upgrade",
        "proxy-authorization",
        "transfer-encoding",
        "http2-settings",
        "x-gateway-anything",
        "x-fairlead-endpoint",
        "x-http2-stream-id",
        "x-prefiller-host-port",
        "x-gateway-",
        "x-fairlead-timeout-total"
      })
  void whatIsOfOneHopOrSteersPassesInNoDirection(String name) {
    for (String one : List.of(name, name.toUpperCase(Locale.ROOT))) {
      HttpHeaders headers = HeaderRules.none().add(one, "v").add("x-other", "v");
      assertThat(HeaderRules.toBackend(headers).names()).containsExactly("x-other");
      assertThat(HeaderRules.toClient(headers).names()).containsExactly("x-other");
    }
  }

  @Test
  void aBodysLengthIsToldToClientsAsItCame() {
    HttpHeaders headers = HeaderRules.none().add("Content-Length", "1").add("Expect", "e");
    assertThat(HeaderRules.toBackend(headers).isEmpty()).isTrue();
    assertThat(HeaderRules.toClient(headers).size()).isEqualTo(2);
  }

  @Test
  void whatAConnectionNamesEndsHere() {
    HttpHeaders headers =
        HeaderRules.none()
            .add("Connection", "close, X-One")
            .add("connection", "x-two,")
            .add("x-ONE", "1")
            .add("X-Two", "2")
            .add("X-Three", "3");
    assertThat(HeaderRules.toBackend(headers).names()).containsExactly("X-Three");
  }

  @Test
  void namesAreFoundInAnyCaseAndOthersAreNot() {
    List<String> names = Stream.of("a", "b", "aa", "content-type", "x-1", "x-2", "x-3").toList();
    HeaderNames set = new HeaderNames(names);
    for (String name : names) {
      assertThat(set.contains(name)).isTrue();
      assertThat(set.contains(AsciiString.of(name.toUpperCase(Locale.ROOT)))).isTrue();
      assertThat(set.contains(name + "-")).isFalse();
    }
    assertThat(new HeaderNames(List.of()).contains("a")).isFalse();
  }
}
