package io.fairlead.stub.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.stub.server.CompletionRequest.Choice;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.junit.jupiter.api.Test;

final class StreamedReplyTest {

  @Test
  void aChoiceThatEndsBeforeTheOthersIsSentAtOnce() {
    ChannelInboundHandlerAdapter handler = new ChannelInboundHandlerAdapter();
    EmbeddedChannel channel = new EmbeddedChannel(handler);
    ChannelHandlerContext ctx = channel.pipeline().context(handler);
    CompletionRequest request =
        new CompletionRequest(
            Api.COMPLETIONS,
            "m",
            "",
            true,
            false,
            false,
            2,
            1,
            Collections.nCopies(2, new Choice(1, new long[0])));
    Exchange exchange =
        new Exchange(
            ctx,
            ModelServerConfig.builder("one", "m").instant().build(),
            HttpVersion.HTTP_1_1,
            true,
            null,
            () -> {});
    StreamedReply reply = new StreamedReply(exchange, request, new ReplyJson(request, 1, 0));
    reply.first(0, 0);
    reply.end(0);
    assertThat(sent(channel)).contains("\"index\":0").contains("\"finish_reason\":\"length\"");

    reply.first(1, 0);
    reply.end(1);
    assertThat(sent(channel)).contains("\"index\":1").endsWith("data: [DONE]\n\n");
    channel.finishAndReleaseAll();
  }

  /** What was flushed since it was last asked. */
  private static String sent(EmbeddedChannel channel) {
    StringBuilder text = new StringBuilder();
    for (Object each = channel.readOutbound(); each != null; each = channel.readOutbound()) {
      if (each instanceof HttpContent content) {
        text.append(content.content().toString(StandardCharsets.UTF_8));
        content.release();
      }
    }
    return text.toString();
  }
}
