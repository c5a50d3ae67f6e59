package io.fairlead.lab.trace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import io.fairlead.lab.workload.RequestShape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Reads JSON lines in the form of Mooncake's traces: {@code timestamp} in milliseconds, {@code
 * input_length}, {@code output_length} and {@code hash_ids} of {@value #HASH_ID_TOKENS} tokens. Of
 * the fields that a capture adds, {@code model} and {@code blocks} are used; others are ignored.
 */
final class TraceLines {

  /** Tokens that one of Mooncake's identities stands for. */
  static final int HASH_ID_TOKENS = 512;

  private static final double NANOS_PER_MILLI = 1e6;

  /** Three thousand years: what is more is no time in milliseconds. */
  private static final double MOST_MILLIS = 1e14;

  private static final ObjectReader JSON =
      new ObjectMapper().reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private final Path file;
  private final int line;
  private final JsonNode root;

  private TraceLines(Path file, int line, JsonNode root) {
    this.file = file;
    this.line = line;
    this.root = root;
  }

  static List<TraceRequest> read(Path file, List<String> lines) {
    List<TraceRequest> requests = new ArrayList<>(lines.size());
    for (int i = 0; i < lines.size(); i++) {
      String text = lines.get(i);
      if (!text.isBlank()) {
        TraceLines one = new TraceLines(file, i + 1, object(file, i + 1, text));
        if (one.isInference()) {
          requests.add(one.request());
        }
      }
    }
    return requests;
  }

  static JsonNode object(Path file, int line, String text) {
    try {
      JsonNode root = JSON.readTree(text);
      if (root != null && root.isObject()) {
        return root;
      }
    } catch (JsonProcessingException e) {
      throw new InvalidTraceException(
          file, line, "is not JSON at column " + e.getLocation().getColumnNr());
    }
    throw new InvalidTraceException(file, line, "is not a JSON object");
  }

  /** A capture also has requests that have no prompt, such as one for the list of models. */
  private boolean isInference() {
    return tokens("input_length") > 0;
  }

  private TraceRequest request() {
    boolean fine = root.has("blocks");
    return new TraceRequest(
        nanos(),
        root.path("model").asText(""),
        tokens("input_length"),
        Math.max(1, tokens("output_length")),
        fine ? blocks() : hashIds(),
        fine ? RequestShape.BLOCK_TOKENS : HASH_ID_TOKENS);
  }

  private long nanos() {
    JsonNode node = root.path("timestamp");
    double millis = node.asDouble();
    if (!node.isNumber() || !(Math.abs(millis) <= MOST_MILLIS)) {
      throw wrong("timestamp", node, "a number of milliseconds");
    }
    return Math.round(millis * NANOS_PER_MILLI);
  }

  private int tokens(String field) {
    JsonNode node = root.path(field);
    if (!node.isIntegralNumber() || !node.canConvertToInt() || node.intValue() < 0) {
      throw wrong(field, node, "a whole number from 0 up");
    }
    return node.intValue();
  }

  private long[] hashIds() {
    JsonNode node = root.path("hash_ids");
    int most = Math.ceilDiv(tokens("input_length"), HASH_ID_TOKENS);
    if (!node.isArray()) {
      throw wrong("hash_ids", node, "a list of whole numbers");
    }
    if (node.size() > most) {
      throw new InvalidTraceException(
          file,
          line,
          "hash_ids has "
              + node.size()
              + " entries; an input_length of "
              + tokens("input_length")
              + " has "
              + most
              + " blocks of "
              + HASH_ID_TOKENS
              + " tokens");
    }
    long[] ids = new long[node.size()];
    for (int i = 0; i < ids.length; i++) {
      JsonNode id = node.get(i);
      if (!id.isIntegralNumber() || !id.canConvertToLong()) {
        throw wrong("hash_ids[" + i + "]", id, "a whole number of 64 bits");
      }
      ids[i] = id.longValue();
    }
    return ids;
  }

  private long[] blocks() {
    JsonNode node = root.path("blocks");
    try {
      byte[] bytes = Base64.getDecoder().decode(node.asText());
      if (node.isTextual() && bytes.length % Long.BYTES == 0) {
        long[] blocks = new long[bytes.length / Long.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(blocks);
        return blocks;
      }
    } catch (IllegalArgumentException e) {
      // said below
    }
    throw wrong("blocks", node, "Base64 of 8 bytes per block");
  }

  private InvalidTraceException wrong(String field, JsonNode found, String needed) {
    String what = found.isMissingNode() ? "is missing" : "is " + shortened(found.toString());
    return new InvalidTraceException(file, line, field + " " + what + "; " + needed + " is needed");
  }

  private static String shortened(String text) {
    return text.length() <= 40 ? text : text.substring(0, 40) + "…";
  }
}
