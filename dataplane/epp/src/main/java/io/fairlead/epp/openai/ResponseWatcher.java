package io.fairlead.epp.openai;

import io.fairlead.core.Usage;
import io.netty.buffer.ByteBuf;
import io.netty.util.ByteProcessor;
import java.util.Locale;

/**
 * Watches a response's bytes go by for its token counts; keeps its place in them, never the text.
 * One per response.
 *
 * <p>Of a stream of events, the {@code data} lines are read as JSON, one document per event; of
 * several usages each count is the last one told. Works byte by byte, so how the body is cut makes
 * no difference, and whatever the body is, it only ever means that counts stay unknown.
 */
public final class ResponseWatcher {

  private static final byte[] DATA = {'d', 'a', 't', 'a', ':'};
  private static final int OTHER_LINE = -1;

  private final UsageScanner json = new UsageScanner();
  private final ByteProcessor step;

  /** Bytes of {@link #DATA} that the line has begun with, or {@link #OTHER_LINE}. */
  private int matched;

  private int events;
  private boolean hasData;
  private boolean emptyLine = true;
  private boolean afterCarriageReturn;

  /**
   * A watcher for one response.
   *
   * @param contentType the response's header; {@code text/event-stream} is read as events
   */
  public ResponseWatcher(String contentType) {
    step =
        contentType.toLowerCase(Locale.ROOT).contains("text/event-stream")
            ? this::event
            : this::document;
  }

  /** Looks at the next bytes of the body without consuming them. */
  public void watch(ByteBuf body) {
    body.forEachByte(step);
  }

  /** Token counts seen so far, and how many events have gone by. */
  public Usage usage() {
    Usage seen = json.usage();
    return events == 0
        ? seen
        : new Usage(seen.promptTokens(), seen.completionTokens(), seen.cachedTokens(), events);
  }

  /** How many events have gone by. */
  public int events() {
    return events;
  }

  private boolean document(byte b) {
    json.next(b);
    return true;
  }

  private boolean event(byte b) {
    boolean secondOfLineEnd = afterCarriageReturn && b == '\n';
    afterCarriageReturn = b == '\r';
    if (secondOfLineEnd) {
      return true;
    }
    if (b == '\n' || b == '\r') {
      endLine();
    } else {
      emptyLine = false;
      if (matched == DATA.length) {
        json.next(b);
      } else if (matched >= 0) {
        matched = b == DATA[matched] ? matched + 1 : OTHER_LINE;
      }
    }
    return true;
  }

  private void endLine() {
    if (emptyLine) {
      events += hasData ? 1 : 0;
      hasData = false;
      json.reset();
    } else if (matched == DATA.length) {
      hasData = true;
      json.next((byte) '\n');
    }
    emptyLine = true;
    matched = 0;
  }
}
