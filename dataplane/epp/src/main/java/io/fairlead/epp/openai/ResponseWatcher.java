package io.fairlead.epp.openai;

import io.fairlead.core.Usage;
import io.netty.buffer.ByteBuf;
import java.util.Locale;

/**
 * Watches a response's bytes go by for its token counts; keeps its place in them, never the text.
 * One per response.
 *
 * <p>Of a stream of events, the {@code data} lines are read as JSON, one document per event; of
 * several usages each count is the last one told. How the body is cut makes no difference, and
 * whatever the body is, it only ever means that counts stay unknown.
 */
public final class ResponseWatcher {

  private final UsageScanner json = new UsageScanner();
  private final EventLines lines = new EventLines();
  private final ByteWindows.Reader reader;
  private int events;
  private boolean hasData;

  /**
   * A watcher for one response.
   *
   * @param contentType the response's header; {@code text/event-stream} is read as events
   */
  public ResponseWatcher(String contentType) {
    reader =
        contentType.toLowerCase(Locale.ROOT).contains("text/event-stream")
            ? this::events
            : this::document;
  }

  /** Looks at the next bytes of the body without consuming them. */
  public void watch(ByteBuf body) {
    ByteWindows.show(body, reader);
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

  private void document(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      at = json.line(bytes, at, to);
      if (at < to) {
        json.next(bytes[at++]);
      }
    }
  }

  private void events(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      if (lines.inData()) {
        at = json.line(bytes, json.event(bytes, at, to), to);
        if (at == to) {
          return;
        }
      }
      byte b = bytes[at++];
      switch (lines.next(b)) {
        case DATA -> json.next(b);
        case DATA_END -> {
          hasData = true;
          json.next((byte) '\n');
        }
        case EVENT_END -> {
          events += hasData ? 1 : 0;
          hasData = false;
          json.reset();
        }
        case OTHER -> {}
      }
    }
  }
}
