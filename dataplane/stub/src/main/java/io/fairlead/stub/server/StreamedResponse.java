package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import java.nio.charset.StandardCharsets;

/**
 * Answers {@code /v1/responses} with named and numbered events, of which the last has the usage.
 */
final class StreamedResponse implements Reply {

  private final Exchange exchange;
  private final CompletionRequest request;
  private final ResponseJson json;
  private final Progress progress;
  private boolean begun;
  private int events;

  StreamedResponse(Exchange exchange, CompletionRequest request, ResponseJson json) {
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
    exchange.writeAndFlush(event("response.output_text.delta", json.delta(Filler.word(n))));
  }

  @Override
  public void end(int choice) {
    finish();
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
    finish();
  }

  private void begin() {
    if (begun) {
      return;
    }
    begun = true;
    exchange.beginStream(request.model());
    exchange.write(event("response.created", json.about(json.begun())));
    exchange.write(event("response.in_progress", json.about(json.begun())));
    exchange.write(event("response.output_item.added", json.item("in_progress", "")));
    exchange.write(event("response.content_part.added", json.part("")));
  }

  private void finish() {
    String text = Filler.text(progress.allTokens());
    exchange.write(event("response.output_text.done", json.text(text)));
    exchange.write(event("response.content_part.done", json.part(text)));
    exchange.write(event("response.output_item.done", json.item(ResponseJson.ITEM_STATUS, text)));
    exchange.write(event("response.completed", json.about(json.whole(progress))));
    exchange.endStream();
  }

  private HttpContent event(String type, ObjectNode data) {
    data.put("type", type).put("sequence_number", events++);
    String event = "event: " + type + "\ndata: " + data + "\n\n";
    return new DefaultHttpContent(Unpooled.wrappedBuffer(event.getBytes(StandardCharsets.UTF_8)));
  }
}
