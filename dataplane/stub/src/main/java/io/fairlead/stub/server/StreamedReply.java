package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import java.nio.charset.StandardCharsets;

/**
 * Answers token by token in server-sent events. The head goes out with the first token, as with a
 * real server: until then a gateway can still try elsewhere.
 */
final class StreamedReply implements Reply {

  private final Exchange exchange;
  private final CompletionRequest request;
  private final ReplyJson json;
  private int tokens;
  private int cachedTokens;

  StreamedReply(Exchange exchange, CompletionRequest request, ReplyJson json) {
    this.exchange = exchange;
    this.request = request;
    this.json = json;
  }

  @Override
  public void first(int cachedTokens) {
    this.cachedTokens = cachedTokens;
    begin();
    token(1);
  }

  @Override
  public void token(int n) {
    tokens = n;
    // The last token travels with the reason for the end.
    if (n < request.outputTokens()) {
      exchange.writeAndFlush(event(json.textChunk(Filler.word(n), null)));
    }
  }

  @Override
  public void fail(ApiError error) {
    if (tokens == 0) {
      exchange.error(error);
    } else {
      exchange.cut();
    }
  }

  @Override
  public void end(String finishReason) {
    if (tokens == 0) {
      begin();
    }
    String rest = tokens == request.outputTokens() ? Filler.word(tokens) : "";
    exchange.write(event(json.textChunk(rest, finishReason)));
    if (request.includeUsage()) {
      exchange.write(event(json.usageChunk(tokens, cachedTokens)));
    }
    exchange.write(event("[DONE]"));
    exchange.endStream();
  }

  private void begin() {
    exchange.beginStream(json.model());
    if (request.chat()) {
      exchange.write(event(json.roleChunk()));
    }
  }

  private static HttpContent event(ObjectNode data) {
    return event(data.toString());
  }

  private static HttpContent event(String data) {
    return new DefaultHttpContent(
        Unpooled.wrappedBuffer(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8)));
  }
}
