package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads, before the codec makes messages of them. */
class Http2HeadsTest {

  private final UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(false);
  private final EmbeddedChannel stream =
      new EmbeddedChannel(Http2Heads.ofRequests(), new Http2StreamFrameToHttpObjectCodec(true));

  private final EmbeddedChannel answers =
      new EmbeddedChannel(Http2Heads.ofAnswers(), new Http2StreamFrameToHttpObjectCodec(false));

  @AfterEach
  void close() {
    stream.finishAndReleaseAll();
    answers.finishAndReleaseAll();
    assertThat(buffers.metric().usedHeapMemory()).as("bytes that are lost").isZero();
    assertThat(buffers.metric().usedDirectMemory()).as("bytes that are lost").isZero();
  }

  private void ask(Http2Headers head) {
    stream.config().setAllocator(buffers);
    stream.writeInbound(new DefaultHttp2HeadersFrame(head.scheme("http"), true));
  }

  @Test
  void oneWithMethodAndPathPasses() {
    ask(new DefaultHttp2Headers(false).method("GET").path("/v1/models?a=<b>").authority("x"));
    FullHttpRequest request = stream.readInbound();
    assertThat(request.uri()).isEqualTo("/v1/models?a=<b>");
    request.release();
  }

  /** The codec can't make a message of these either, and loses a buffer over each. */
  @ParameterizedTest
  @CsvSource({
    "GET,/a b",
    "GET,' /a'",
    "GE T,/a",
    "G\u00c9T,/a",
    "CONNECT,/a",
    "connect,/a",
    "'',/a",
    "GET,",
    ",/a"
  })
  void oneThatIsNoRequestFailsItsStreamAndLosesNothing(String method, String path) {
    Http2Headers head = new DefaultHttp2Headers(false);
    if (method != null) {
      head.method(method);
    }
    if (path != null) {
      head.path(path);
    }
    assertThatThrownBy(() -> ask(head))
        .isInstanceOfSatisfying(
            Http2Exception.class, e -> assertThat(e.error()).isEqualTo(Http2Error.PROTOCOL_ERROR));
    Object made = stream.readInbound();
    assertThat(made).isNull();
  }

  /** The codec refuses what is before a value, and nothing refuses what is after it. */
  @ParameterizedTest
  @CsvSource({"'x ',x", "'x \t ',x", "'a b',a b", "x,x", "'',''"})
  void aValueEndsWithNoSpaceInAHeadOrInTrailers(String value, String told) {
    Http2Headers head = new DefaultHttp2Headers(false).method("POST").path("/a").scheme("http");
    stream.writeInbound(new DefaultHttp2HeadersFrame(head.add("foo", value).add("foo", "b ")));
    stream.writeInbound(
        new DefaultHttp2HeadersFrame(new DefaultHttp2Headers(false).add("bar", value), true));
    HttpRequest request = stream.readInbound();
    assertThat(request.headers().getAll("foo")).containsExactly(told, "b");
    LastHttpContent last = stream.readInbound();
    assertThat(last.trailingHeaders().get("bar")).isEqualTo(told);
    last.release();

    answer(new DefaultHttp2Headers(false).status("200").add("foo", value), false);
    assertThat(answers.<HttpResponse>readInbound().headers().get("foo")).isEqualTo(told);
  }

  private void answer(Http2Headers head, boolean last) {
    answers.config().setAllocator(buffers);
    answers.writeInbound(new DefaultHttp2HeadersFrame(head, last));
  }

  private void takeInterim() {
    FullHttpResponse interim = answers.readInbound();
    assertThat(interim.status().code()).isEqualTo(103);
    interim.release();
  }

  @Test
  void anAnswerPassesWithWhatComesBeforeAndAfterItsBody() {
    answer(new DefaultHttp2Headers(false).status("103"), false);
    answer(new DefaultHttp2Headers(false).status("200"), false);
    answer(new DefaultHttp2Headers(false).add("x-took", "7"), true);
    takeInterim();
    assertThat(answers.<HttpResponse>readInbound().status().code()).isEqualTo(200);
    LastHttpContent last = answers.readInbound();
    assertThat(last.trailingHeaders().get("x-took")).isEqualTo("7");
  }

  @ParameterizedTest
  @ValueSource(strings = {"abc", "99", "099", "1000", "200 OK", "-50", "101", ""})
  void oneThatIsNoAnswerFailsItsStreamAndLosesNothing(String status) {
    Http2Headers head = new DefaultHttp2Headers(false).status(status);
    assertThatThrownBy(() -> answer(head, true)).isInstanceOf(Http2Exception.class);
    Object made = answers.readInbound();
    assertThat(made).isNull();
  }

  /** There is no answer after it. */
  @Test
  void anInterimAnswerThatEndsItsStreamFailsItAndLosesNothing() {
    assertThatThrownBy(() -> answer(new DefaultHttp2Headers(false).status("103"), true))
        .isInstanceOf(Http2Exception.class);
    assertThat(answers.<Object>readInbound()).isNull();
  }

  @Test
  void nothingButAnInterimAnswerComesBeforeAStatus() {
    answer(new DefaultHttp2Headers(false).status("103"), false);
    takeInterim();
    assertThatThrownBy(() -> answer(new DefaultHttp2Headers(false), true))
        .isInstanceOf(Http2Exception.class);
    assertThat(answers.<Object>readInbound()).isNull();
  }
}
