package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.RequestCase;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read of a message is what the protocol's own reader finds in it. */
class ProxyMessageTest {

  private static final List<String> NAMES =
      List.of(":path", ":status", "Content-Length", "content-length", "x", "", "x-\u00e9", "X-Y");

  @Test
  void theFirstValueOfANameCountsInWhicheverFieldAndCase() throws IOException {
    ProxyMessage read =
        read(
            headers(
                header("X-One", "", "raw"),
                header("x-one", "", "second"),
                header("x-two", "plain", ""),
                header("x-both", "plain", "raw"),
                header("x-none", "", "")));
    assertThat(read.content()).isEqualTo(RequestCase.REQUEST_HEADERS);
    assertThat(read.headersAreAll()).isFalse();
    WireHeaders headers = read.headers();
    assertThat(headers.first("x-one")).isEqualTo("raw");
    assertThat(headers.first("x-two")).isEqualTo("plain");
    assertThat(headers.first("x-both")).isEqualTo("raw");
    assertThat(headers.first("x-none")).isEmpty();
    assertThat(headers.first("x-on")).isNull();
    assertThat(headers.value("x-on")).isEmpty();
    assertThat(headers.has("X-TWO")).isTrue();
    assertThat(headers.has("x-three")).isFalse();
  }

  @Test
  void aHeaderContradictsItselfWhereItIsThereTwiceAndSaysTwoThings() throws IOException {
    WireHeaders headers =
        read(headers(
                header("one", "", "x"),
                header("Same", "", "x"),
                header("same", "x", ""),
                header("two", "", "x"),
                header("TWO", "", "x"),
                header("two", "", "xy")))
            .headers();
    assertThat(headers.contradicts("two")).isTrue();
    for (String other : List.of("one", "same", "none")) {
      assertThat(headers.contradicts(other)).as(other).isFalse();
    }
  }

  @Test
  void numbersAreDigitsOnly() throws IOException {
    WireHeaders headers =
        read(headers(
                header("n", "", "200"),
                header("plus", "", "+1"),
                header("empty", "", ""),
                header("long", "", "1234567890123456789"),
                header("most", "", "123456789012345678")))
            .headers();
    assertThat(headers.number("n")).isEqualTo(200);
    assertThat(headers.number("most")).isEqualTo(123456789012345678L);
    for (String none : List.of("plus", "empty", "long", "missing")) {
      assertThat(headers.number(none)).as(none).isEqualTo(-1);
    }
  }

  /** Serializers may write empty fields, and a field twice. */
  @Test
  void anEmptyRawValueHidesNone() throws IOException {
    byte[] plainAndEmpty = {10, 1, 'k', 18, 1, 'v', 26, 0};
    byte[] rawTwice = {10, 1, 'l', 18, 1, 'v', 26, 1, 'r', 26, 0};
    ProcessingRequest twice =
        headers(HeaderValue.parseFrom(plainAndEmpty), HeaderValue.parseFrom(rawTwice));
    byte[] map = {
      18, 25, 10, 23, 10, 8, 10, 1, 'k', 18, 1, 'v', 26, 0, 10, 11, 10, 1, 'l', 18, 1, 'v', 26, 1,
      'r', 26, 0
    };
    assertThat(ProcessingRequest.parseFrom(map)).isEqualTo(twice);
    WireHeaders read = ProxyMessage.read(map).headers();
    assertThat(read.first("k")).isEqualTo("v");
    assertThat(read.first("l")).isEqualTo("v");
  }

  @Test
  void aMapInTwoPartsIsOneAndTheLastContentCounts() throws IOException {
    ProcessingRequest one = headers(header("a", "", "1"));
    ProcessingRequest two = headers(header("b", "", "2"));
    WireHeaders both = ProxyMessage.read(joined(one, two)).headers();
    assertThat(both.value("a") + both.value("b")).isEqualTo("12");

    ProcessingRequest trailers = Messages.RESPONSE_TRAILERS;
    assertThat(ProxyMessage.read(joined(one, trailers)).content())
        .isEqualTo(RequestCase.RESPONSE_TRAILERS);
    assertThat(ProxyMessage.read(joined(trailers, two)).headers().value("b")).isEqualTo("2");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 20261122})
  void isWhatTheProtocolsReaderFinds(long seed) throws IOException {
    Random random = new Random(seed);
    for (int i = 0; i < 5_000; i++) {
      ProcessingRequest sent = random(random);
      assertEqual(ProxyMessage.read(sent.toByteArray()), sent);
    }
  }

  /** What the protocol's reader takes of damaged messages is taken, and read alike. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 20261122})
  void nothingElseIsFoundInDamagedMessages(long seed) throws IOException {
    Random random = new Random(seed);
    int taken = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = random(random).toByteArray();
      for (int n = random.nextInt(3); n >= 0 && bytes.length > 0; n--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      try {
        assertEqual(ProxyMessage.read(bytes), ProcessingRequest.parseFrom(bytes));
        taken++;
      } catch (InvalidProtocolBufferException e) {
        assertThatThrownBy(() -> ProcessingRequest.parseFrom(bytes))
            .as("taken by the protocol's reader: %s", HexFormat.of().formatHex(bytes))
            .isInstanceOf(InvalidProtocolBufferException.class);
      }
    }
    assertThat(taken).isGreaterThan(1000);
  }

  private static void assertEqual(ProxyMessage read, ProcessingRequest sent) {
    assertThat(read.content()).isEqualTo(sent.getRequestCase());
    HttpHeaders headers =
        switch (sent.getRequestCase()) {
          case REQUEST_HEADERS -> sent.getRequestHeaders();
          case RESPONSE_HEADERS -> sent.getResponseHeaders();
          default -> HttpHeaders.getDefaultInstance();
        };
    assertThat(read.headersAreAll()).isEqualTo(headers.getEndOfStream());
    for (String name : NAMES) {
      assertThat(read.headers().first(name)).as(name).isEqualTo(first(headers, name));
    }
    assertThat(read.rest().getMetadataContext()).isEqualTo(sent.getMetadataContext());
    assertThat(read.rest().getProtocolConfig()).isEqualTo(sent.getProtocolConfig());
    assertThat(read.rest().getObservabilityMode()).isEqualTo(sent.getObservabilityMode());
    assertThat(read.rest().getRequestBody()).isEqualTo(sent.getRequestBody());
  }

  private static @Nullable String first(HttpHeaders headers, String name) {
    for (HeaderValue header : headers.getHeaders().getHeadersList()) {
      if (header.getKey().equalsIgnoreCase(name)
          && header.getKey().codePoints().allMatch(c -> c < 128)) {
        return header.getRawValue().isEmpty()
            ? header.getValue()
            : header.getRawValue().toStringUtf8();
      }
    }
    return null;
  }

  private static ProcessingRequest random(Random random) {
    HeaderValue[] some = new HeaderValue[random.nextInt(40)];
    for (int i = 0; i < some.length; i++) {
      String name = NAMES.get(random.nextInt(NAMES.size()));
      some[i] =
          header(
              name,
              random.nextInt(3) == 0 ? "" : "v" + random.nextInt(9),
              "r".repeat(random.nextInt(200)));
    }
    ProcessingRequest all = headers(some);
    return switch (random.nextInt(5)) {
      case 0 -> Messages.body("x".repeat(random.nextInt(300)), random.nextBoolean());
      case 1 ->
          ProcessingRequest.newBuilder()
              .setResponseHeaders(all.getRequestHeaders().toBuilder().setEndOfStream(true))
              .build();
      case 2 -> all.toBuilder().setObservabilityMode(true).build();
      case 3 -> Messages.post("x", "y");
      default -> all;
    };
  }

  private static ProxyMessage read(ProcessingRequest message) throws IOException {
    return ProxyMessage.read(message.toByteArray());
  }

  private static byte[] joined(ProcessingRequest first, ProcessingRequest second)
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    first.writeTo(bytes);
    second.writeTo(bytes);
    return bytes.toByteArray();
  }

  private static ProcessingRequest headers(HeaderValue... all) {
    return ProcessingRequest.newBuilder()
        .setRequestHeaders(
            HttpHeaders.newBuilder().setHeaders(HeaderMap.newBuilder().addAllHeaders(List.of(all))))
        .build();
  }

  private static HeaderValue header(String key, String value, String raw) {
    return HeaderValue.newBuilder()
        .setKey(key)
        .setValue(value)
        .setRawValue(ByteString.copyFromUtf8(raw))
        .build();
  }
}
