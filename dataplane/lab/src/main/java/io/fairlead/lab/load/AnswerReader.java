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

/**
 * Reads one answer with the times of its first and last byte. Of a stream only the line that is
 * coming in is kept, and what it has said of itself.
 */
final class AnswerReader implements Flow.Subscriber<List<ByteBuffer>> {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String DATA = "data: ";
  private static final String END_OF_STREAM = "[DONE]";

  private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
  private final boolean stream;
  private final long start;
  private boolean begun;
  private boolean ended;
  private boolean error;
  private JsonNode first = MissingNode.getInstance();
  private JsonNode usage = MissingNode.getInstance();
  private long firstByteNanos;
  private long lastByteNanos;

  /**
   * A reader of one answer.
   *
   * @param start from when time counts
   */
  AnswerReader(boolean stream, long start) {
    this.stream = stream;
    this.start = start;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    subscription.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    lastByteNanos = System.nanoTime() - start;
    if (!begun) {
      begun = true;
      firstByteNanos = lastByteNanos;
    }
    for (ByteBuffer buffer : buffers) {
      while (buffer.hasRemaining()) {
        byte next = buffer.get();
        if (next == '\n' && stream) {
          line();
        } else {
          pending.write(next);
        }
      }
    }
  }

  @Override
  public void onError(Throwable failure) {}

  @Override
  public void onComplete() {
    JsonNode rest = json(text());
    if (!stream) {
      first = rest;
      usage = first.path("usage");
      ended = !first.isMissingNode();
    }
    error |= isError(rest);
  }

  private String text() {
    String text = pending.toString(StandardCharsets.UTF_8);
    pending.reset();
    return text;
  }

  private void line() {
    String line = text();
    if (!line.startsWith(DATA)) {
      return;
    }
    String data = line.substring(DATA.length()).strip();
    if (data.equals(END_OF_STREAM)) {
      ended = true;
    } else if (first.isMissingNode()) {
      first = json(data);
      usage = first.path("usage");
      error = isError(first);
    } else if (data.contains("\"usage\"") || data.contains("\"error\"")) {
      JsonNode told = json(data);
      usage = told.path("usage").isObject() ? told.path("usage") : usage;
      error |= isError(told);
    }
  }

  /** As servers and proxies write it; the latter form is vLLM's of earlier versions. */
  private static boolean isError(JsonNode said) {
    return said.hasNonNull("error") || said.path("object").asText().equals("error");
  }

  long firstByteNanos() {
    return firstByteNanos;
  }

  long lastByteNanos() {
    return lastByteNanos;
  }

  /** Whether the answer is whole: the end event of a stream, or a JSON document. */
  boolean complete() {
    return ended;
  }

  /** Whether it is an error, or one comes in the course of it, whatever its status says. */
  boolean error() {
    return error;
  }

  /** The model that the answer names, or an empty string. */
  String model() {
    return first.path("model").asText("");
  }

  /** Tokens of the prompt as the server counted them; 0 when it did not say. */
  int promptTokens() {
    return usage.path("prompt_tokens").asInt();
  }

  /** Those of them that were in its cache. */
  int cachedTokens() {
    return usage.path("prompt_tokens_details").path("cached_tokens").asInt();
  }

  /** Tokens of the answer. */
  int outputTokens() {
    return usage.path("completion_tokens").asInt();
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (IOException e) {
      return MissingNode.getInstance();
    }
  }
}
