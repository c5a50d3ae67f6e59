package io.fairlead.epp.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OneAtATimeTest {

  private final List<String> asked = new ArrayList<>();
  private final EmbeddedChannel channel =
      new EmbeddedChannel(
          new OneAtATime(),
          new SimpleChannelInboundHandler<FullHttpRequest>() {
            @Override
            protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
              asked.add(request.uri());
            }
          });

  private FullHttpRequest request(String path) {
    FullHttpRequest request =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
    channel.writeInbound(request);
    return request;
  }

  private void answer() {
    channel.writeOutbound(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
  }

  @Test
  void theNextIsAskedWhenTheOneBeforeItIsAnswered() {
    request("/one");
    request("/two");
    request("/three");
    assertThat(asked).containsExactly("/one");
    assertThat(channel.config().isAutoRead()).as("no more is read meanwhile").isFalse();
    answer();
    assertThat(asked).containsExactly("/one", "/two");
    answer();
    answer();
    assertThat(asked).containsExactly("/one", "/two", "/three");
    assertThat(channel.config().isAutoRead()).isTrue();
    request("/four");
    assertThat(asked).hasSize(4);
  }

  @Test
  void whoSendsFarTooManyIsCutOffAndNothingIsKept() {
    List<FullHttpRequest> all = new ArrayList<>();
    for (int i = 0; i < OneAtATime.MOST + 2; i++) {
      all.add(request("/" + i));
    }
    assertThat(channel.isOpen()).isFalse();
    assertThat(asked).hasSize(1);
    assertThat(all).allMatch(request -> request.refCnt() == 0);
  }

  private void beginStream() {
    channel.writeOutbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
  }

  @Test
  void whoAsksOnAStreamIsCutOff() {
    request("/stream");
    beginStream();
    assertThat(channel.config().isAutoRead()).as("more is read").isTrue();
    FullHttpRequest again = request("/again");
    assertThat(channel.isOpen()).isFalse();
    assertThat(asked).containsExactly("/stream");
    assertThat(again.refCnt()).isZero();
  }

  @Test
  void whoHasAskedBehindAStreamIsCutOffWhenItBegins() {
    request("/stream");
    FullHttpRequest behind = request("/behind");
    // It may fail, as the connection is closed under it.
    var _ =
        channel.writeAndFlush(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
    assertThat(channel.isOpen()).isFalse();
    assertThat(behind.refCnt()).isZero();
  }

  @Test
  void afterAStreamThatHasEndedTheNextIsAsked() {
    request("/stream");
    beginStream();
    channel.writeOutbound(LastHttpContent.EMPTY_LAST_CONTENT);
    request("/next");
    assertThat(asked).containsExactly("/stream", "/next");
  }
}
