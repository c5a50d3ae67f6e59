package io.fairlead.lab.load;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Flow;

/** Collects one answer with the times of its first and last byte. */
final class AnswerReader implements Flow.Subscriber<List<ByteBuffer>> {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String END_OF_STREAM = "data: [DONE]";

  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private final long start;
  private long firstByteNanos;
  private long lastByteNanos;

  AnswerReader(long start) {
    this.start = start;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    subscription.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    lastByteNanos = System.nanoTime() - start;
    if (body.size() == 0) {
      firstByteNanos = lastByteNanos;
    }
    for (ByteBuffer buffer : buffers) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      body.writeBytes(bytes);
    }
  }

  @Override
  public void onError(Throwable failure) {}

  @Override
  public void onComplete() {}

  byte[] bytes() {
    return body.toByteArray();
  }

  long firstByteNanos() {
    return firstByteNanos;
  }

  long lastByteNanos() {
    return lastByteNanos;
  }

  /** Whether the answer is whole: the end event of a stream, or a JSON document. */
  boolean complete(boolean stream) {
    String text = body.toString(StandardCharsets.UTF_8);
    return stream ? text.contains(END_OF_STREAM) : !json(text).isMissingNode();
  }

  /** The model that the answer names, or an empty string. */
  String model() {
    String text = body.toString(StandardCharsets.UTF_8);
    if (text.startsWith("data: ")) {
      int end = text.indexOf('\n');
      text = text.substring("data: ".length(), end < 0 ? text.length() : end);
    }
    return json(text).path("model").asText("");
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException e) {
      return MissingNode.getInstance();
    }
  }
}
