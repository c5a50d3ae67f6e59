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
  private final Progress progress;
  private boolean begun;

  StreamedReply(Exchange exchange, CompletionRequest request, ReplyJson json) {
    this.exchange = exchange;
    this.request = request;
    this.json = json;
    progress = new Progress(request);
  }

  @Override
  public void first(int choice, int cachedTokens) {
    progress.first(choice, cachedTokens);
    begin();
    token(choice, 1);
  }

  @Override
  public void token(int choice, int n) {
    progress.token(choice, n);
    // The last token travels with the reason for the end.
    if (n < request.outputTokens()) {
      exchange.writeAndFlush(event(json.textChunk(choice, Filler.word(n), null)));
    }
  }

  @Override
  public void end(int choice) {
    if (progress.end(choice)) {
      exchange.write(lastEvent(choice));
      endStream();
    } else {
      exchange.writeAndFlush(lastEvent(choice));
    }
  }

  @Override
  public void fail(ApiError error) {
    if (begun) {
      exchange.cut();
    } else {
      exchange.error(error);
    }
  }

  @Override
  public void abort() {
    begin();
    for (int i = 0; i < progress.choices(); i++) {
      if (!progress.ended(i)) {
        exchange.write(lastEvent(i));
      }
    }
    endStream();
  }

  private HttpContent lastEvent(int choice) {
    int tokens = progress.tokens(choice);
    String rest = tokens == request.outputTokens() ? Filler.word(tokens) : "";
    return event(json.textChunk(choice, rest, progress.finishReason(choice)));
  }

  private void endStream() {
    if (request.includeUsage()) {
      exchange.write(event(json.usageChunk(progress)));
    }
    exchange.write(event("[DONE]"));
    exchange.endStream();
  }

  private void begin() {
    if (begun) {
      return;
    }
    begun = true;
    exchange.beginStream(json.model());
    if (request.api() == Api.CHAT) {
      for (int i = 0; i < progress.choices(); i++) {
        exchange.write(event(json.roleChunk(i)));
      }
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
