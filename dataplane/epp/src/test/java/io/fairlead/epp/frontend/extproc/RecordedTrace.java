package io.fairlead.epp.frontend.extproc;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Requests of a trace in Mooncake's form, with made-up text that is shared as the trace says. */
final class RecordedTrace {

  private static final int BLOCK_TOKENS = 512;
  private static final int TOKEN_BYTES = 4;
  private static final ObjectMapper JSON = new ObjectMapper();

  private RecordedTrace() {}

  /**
   * A request.
   *
   * @param atNanos when it came
   * @param outputTokens length of its answer
   */
  @SuppressWarnings("ArrayRecordComponent") // sent, never compared
  record Asked(long atNanos, boolean streamed, int promptTokens, int outputTokens, byte[] body) {}

  /** The trace that lies beside the tests, recorded by a gateway. */
  static List<Asked> committed() throws IOException {
    try (InputStream in = RecordedTrace.class.getResourceAsStream("/trace/conversations.jsonl")) {
      if (in == null) {
        throw new IllegalStateException("trace/conversations.jsonl is missing");
      }
      return parse(new String(in.readAllBytes(), UTF_8).lines().toList());
    }
  }

  /** The first requests of a file. */
  static List<Asked> read(Path file, int count) throws IOException {
    try (var lines = Files.lines(file)) {
      return parse(lines.limit(count).toList());
    }
  }

  private static List<Asked> parse(List<String> lines) throws IOException {
    List<Asked> requests = new ArrayList<>();
    for (String line : lines) {
      JsonNode read = JSON.readTree(line);
      boolean streamed = requests.size() % 2 == 0;
      int prompt = read.path("input_length").asInt();
      requests.add(
          new Asked(
              TimeUnit.MILLISECONDS.toNanos(read.path("timestamp").asLong()),
              streamed,
              prompt,
              read.path("output_length").asInt(),
              body(read.path("hash_ids"), prompt, read.path("output_length").asInt(), streamed)));
    }
    return requests;
  }

  private static byte[] body(JsonNode ids, int promptTokens, int outputTokens, boolean streamed) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.writeBytes(
        "{\"model\":\"chat\",\"stream\":%s,\"max_tokens\":%d,\"messages\":[{\"role\":\"user\",\"content\":\""
            .formatted(streamed, outputTokens)
            .getBytes(US_ASCII));
    int left = promptTokens * TOKEN_BYTES;
    for (int i = 0; left > 0; i++) {
      byte[] text = text(ids.path(i).asLong(-i), Math.min(left, BLOCK_TOKENS * TOKEN_BYTES));
      body.writeBytes(text);
      left -= text.length;
    }
    body.writeBytes("\"}]}".getBytes(US_ASCII));
    return body.toByteArray();
  }

  /** The same for the same identity. */
  private static byte[] text(long id, int length) {
    Random random = new Random(id);
    byte[] text = new byte[length];
    for (int i = 0; i < length; i++) {
      text[i] = (byte) ('a' + random.nextInt(26));
    }
    return text;
  }
}
