package io.fairlead.epp.openai;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Finds in a stream of events whether one says that the answer is at its end: a {@code
 * finish_reason} that is not null, or an event of the Messages or the Responses API with such a
 * name. Works byte by byte, so how the stream is cut makes no difference.
 *
 * <p>Of JSON it looks at the key and what follows alone: in a text, the quotes of both would stand
 * behind backslashes.
 */
final class StreamEnd {

  /** The key, in its quotes. */
  static final byte[] FINISH = "\"finish_reason\"".getBytes(StandardCharsets.US_ASCII);

  private static final String EVENT = "event:";
  private static final List<String> NAMES =
      List.of(
          "message_stop", "response.completed", "response.incomplete", "response.failed", "error");
  private static final int LONGEST_LINE = 32;

  /** Bytes of the key that have come; one more once its colon has. */
  private int matched;

  private boolean reached;

  /** The beginning of a line that is no data. */
  private final byte[] line = new byte[LONGEST_LINE];

  private int length;

  /** Whether an event has said so. */
  boolean isReached() {
    return reached;
  }

  /** Takes bytes of events' data; those of events without the key may be left out. */
  void data(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to && !reached) {
      at = matched == 0 ? JsonWords.endOfText(bytes, at, to) : at;
      if (at < to) {
        data(bytes[at++]);
      }
    }
  }

  private void data(byte b) {
    if (matched >= FINISH.length && JsonScanner.isWhitespace(b)) {
      return;
    }
    if (matched > FINISH.length) {
      reached = b != 'n';
    }
    boolean next =
        matched < FINISH.length ? b == FINISH[matched] : matched == FINISH.length && b == ':';
    matched = next ? matched + 1 : b == '"' ? 1 : 0;
  }

  /** Takes a byte of what is no data, or that ends a line. */
  void other(byte b) {
    if (b == '\n' || b == '\r') {
      reached |= length > EVENT.length() && isEnd();
      length = 0;
    } else if (length < line.length) {
      line[length++] = b;
    }
  }

  private boolean isEnd() {
    if (!JsonString.same(EVENT, line, 0, EVENT.length())) {
      return false;
    }
    int from = EVENT.length() + (line[EVENT.length()] == ' ' ? 1 : 0);
    for (String name : NAMES) {
      if (JsonString.same(name, line, from, length)) {
        return true;
      }
    }
    return false;
  }
}
