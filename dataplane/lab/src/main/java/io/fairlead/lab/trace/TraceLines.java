package io.fairlead.lab.trace;

import io.fairlead.core.Outcome;
import io.fairlead.epp.capture.CaptureFields;
import io.fairlead.lab.workload.RequestShape;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads JSON lines in the form of Mooncake's traces: {@code timestamp} in milliseconds, {@code
 * input_length}, {@code output_length} and {@code hash_ids} of 512 tokens. Of the fields that a
 * capture adds, {@code model}, {@code blocks}, {@code outcome} and {@code max_output_tokens} are
 * used; others are ignored.
 */
final class TraceLines {

  private static final double NANOS_PER_MILLI = 1e6;
  private static final String COMPLETED = Outcome.COMPLETED.code();

  /** Three thousand years: what is more is no time in milliseconds. */
  private static final double MOST_MILLIS = 1e14;

  private TraceLines() {}

  static List<TraceRequest> read(Path file, List<String> lines) {
    List<TraceRequest> requests = new ArrayList<>(lines.size());
    for (int i = 0; i < lines.size(); i++) {
      if (!lines.get(i).isBlank()) {
        JsonLine line = JsonLine.parse(file, i + 1, lines.get(i));
        // A capture also has requests without a prompt, such as one for the list of models.
        if (line.atLeast(0, "input_length") > 0) {
          requests.add(request(line));
        }
      }
    }
    return requests;
  }

  private static TraceRequest request(JsonLine line) {
    boolean fine = line.has("blocks");
    return new TraceRequest(
        nanos(line),
        line.textOr("", "model"),
        line.atLeast(1, "input_length"),
        Math.max(unanswered(line) ? 0 : 1, line.atLeast(0, "output_length")),
        line.has("max_output_tokens") ? Math.max(0, line.atLeast(-1, "max_output_tokens")) : 0,
        fine ? line.packed("blocks") : hashIds(line),
        fine ? RequestShape.BLOCK_TOKENS : CaptureFields.HASH_ID_TOKENS);
  }

  /** Whether it asked for an answer that another pool might have given. */
  private static boolean unanswered(JsonLine line) {
    String outcome = line.textOr(COMPLETED, "outcome");
    return !outcome.equals(COMPLETED) && !outcome.equals(Outcome.INVALID.code());
  }

  private static long nanos(JsonLine line) {
    double millis = line.number("timestamp");
    if (!(Math.abs(millis) <= MOST_MILLIS)) {
      throw line.wrong("timestamp", "a number of milliseconds");
    }
    return Math.round(millis * NANOS_PER_MILLI);
  }

  private static long[] hashIds(JsonLine line) {
    int tokens = line.atLeast(1, "input_length");
    long[] ids = line.wholes("hash_ids");
    int most = Math.ceilDiv(tokens, CaptureFields.HASH_ID_TOKENS);
    if (ids.length > most) {
      throw line.invalid(
          "hash_ids has %d entries; an input_length of %d has %d blocks of %d tokens"
              .formatted(ids.length, tokens, most, CaptureFields.HASH_ID_TOKENS));
    }
    return ids;
  }
}
