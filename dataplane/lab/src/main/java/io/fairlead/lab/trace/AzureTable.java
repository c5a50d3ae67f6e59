package io.fairlead.lab.trace;

import io.fairlead.epp.capture.CaptureFields;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the CSV of Azure's LLM inference traces: a time and two lengths per request, nothing on
 * what prompts have in common.
 */
final class AzureTable {

  static final String HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens";

  private static final long[] NO_BLOCKS = {};

  private AzureTable() {}

  static List<TraceRequest> read(Path file, List<String> lines) {
    List<TraceRequest> requests = new ArrayList<>(lines.size());
    for (int i = 1; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty()) {
        requests.add(request(file, i + 1, line.split(",", -1)));
      }
    }
    return requests;
  }

  private static TraceRequest request(Path file, int line, String[] cells) {
    if (cells.length != 3) {
      throw new InvalidTraceException(
          file, line, "has " + cells.length + " cells; " + HEADER + " are needed");
    }
    return new TraceRequest(
        time(file, line, cells[0]),
        "",
        tokens(file, line, "ContextTokens", cells[1]),
        tokens(file, line, "GeneratedTokens", cells[2]),
        0,
        NO_BLOCKS,
        CaptureFields.HASH_ID_TOKENS);
  }

  private static long time(Path file, int line, String cell) {
    try {
      Instant time = LocalDateTime.parse(cell.replace(' ', 'T')).toInstant(ZoneOffset.UTC);
      return Duration.between(Instant.EPOCH, time).toNanos();
    } catch (DateTimeException | ArithmeticException e) {
      throw new InvalidTraceException(
          file,
          line,
          "TIMESTAMP is '" + cell + "'; a time such as 2023-11-16 18:15:46.6805900 is needed");
    }
  }

  private static int tokens(Path file, int line, String field, String cell) {
    try {
      int tokens = Integer.parseInt(cell);
      if (tokens >= 0) {
        return Math.max(1, tokens);
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new InvalidTraceException(
        file, line, field + " is '" + cell + "'; a whole number from 0 up is needed");
  }
}
