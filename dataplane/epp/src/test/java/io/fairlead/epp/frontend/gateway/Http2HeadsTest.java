package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.FullHttpRequest;
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

/** Heads of requests, before the codec makes messages of them. */
class Http2HeadsTest {

  private final UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(false);
  private final EmbeddedChannel stream =
      new EmbeddedChannel(new Http2Heads(), new Http2StreamFrameToHttpObjectCodec(true));

  @AfterEach
  void close() {
    stream.finishAndReleaseAll();
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
}
