package io.fairlead.epp.openai;

import io.fairlead.core.Outcome;
import io.fairlead.core.Usage;
import io.netty.buffer.ByteBuf;
import java.util.Locale;

/**
 * Watches a response's bytes go by for its token counts and errors, and for whether it is an answer
 * at all; keeps its place in them, never the text. One per response.
 *
 * <p>Of a stream of events, the {@code data} lines are read as JSON, one document per event; of
 * several usages each count is the last one told. How the body is cut makes no difference, and
 * whatever the body is, it only ever means that counts stay unknown.
 */
public final class ResponseWatcher {

  private static final String JSON = "application/json";

  private final UsageScanner json;
  private final EventLines lines = new EventLines();
  private final ByteWindows.Reader reader;
  private int events;
  private boolean hasData;

  /** Whether it says itself that its body is JSON or events. */
  private final boolean saysSo;

  private Body body;

  /** The field that its first event may begin with, and how much of that has come. */
  private String field = "";

  private int matched;

  private enum Body {
    /** Of anything: it may be what it wants to be. */
    ANY,
    /** Of a completion, and nothing of it has come. */
    NOTHING,
    /** Of a completion, and it is one, as far as it has come. */
    COMPLETION,
    /** To a completion, and it is something else. */
    OTHER
  }

  /**
   * A watcher for one response.
   *
   * @param path of the request
   * @param contentType the response's header; {@code text/event-stream} is read as events
   */
  public ResponseWatcher(String path, String contentType) {
    String type = contentType.toLowerCase(Locale.ROOT);
    boolean stream = type.contains("text/event-stream");
    reader = stream ? this::events : this::document;
    saysSo = stream || type.contains("json");
    boolean completion = Operation.of(path).isCompletion();
    body = completion ? Body.NOTHING : Body.ANY;
    json = new UsageScanner(completion);
  }

  /**
   * A watcher for one response that may be encoded: where its type is not told either, any byte may
   * be one of an answer.
   *
   * @param path of the request
   * @param contentType the response's header, empty for none
   * @param contentEncoding the response's header, empty for none
   */
  public static ResponseWatcher of(String path, String contentType, String contentEncoding) {
    boolean unknown = contentType.isEmpty() && !ContentCoding.isNone(contentEncoding);
    return new ResponseWatcher(path, unknown ? JSON : contentType);
  }

  /** Looks at the next bytes of the body without consuming them. */
  public void watch(ByteBuf bytes) {
    if (body == Body.NOTHING) {
      body = begins(bytes);
    }
    ByteWindows.show(bytes, reader);
  }

  private Body begins(ByteBuf bytes) {
    if (saysSo) {
      return bytes.isReadable() ? Body.COMPLETION : Body.NOTHING;
    }
    for (int at = bytes.readerIndex(); at < bytes.writerIndex() && body == Body.NOTHING; at++) {
      body = begins(bytes.getByte(at));
    }
    return body;
  }

  /** Of a body that does not say what it is. */
  private Body begins(byte b) {
    if (field.isEmpty()) {
      field =
          switch (b) {
            case 'd' -> "data:";
            case 'e' -> "event:";
            case 'i' -> "id:";
            case 'r' -> "retry:";
            default -> "";
          };
      if (field.isEmpty()) {
        boolean json = b == '{' || b == '[';
        boolean comment = b == ':';
        boolean before = JsonScanner.isWhitespace(b) || JsonScanner.isOfByteOrderMark(b);
        return json || comment ? Body.COMPLETION : before ? Body.NOTHING : Body.OTHER;
      }
    } else if (field.charAt(matched) != b) {
      return Body.OTHER;
    }
    matched++;
    return matched == field.length() ? Body.COMPLETION : Body.NOTHING;
  }

  /**
   * Whether a completion was asked for and this is none, as far as it has come: no byte, or neither
   * JSON nor events, such as the page of a proxy that wants a password. Of other requests nobody
   * knows what their answers are.
   */
  public boolean isNone() {
    return body == Body.NOTHING || body == Body.OTHER;
  }

  /** Token counts seen so far, and how many events have gone by. */
  public Usage usage() {
    Usage seen = json.usage();
    return events == 0
        ? seen
        : new Usage(seen.promptTokens(), seen.completionTokens(), seen.cachedTokens(), events);
  }

  /**
   * Whether the server has said in it that it failed: with an {@code error} whose code is a 5xx, as
   * servers do whose streams have begun with 200.
   */
  boolean failed() {
    return json.failed();
  }

  /**
   * Whether a completion was asked for and this is an error, as far as it has come, and no part of
   * an answer: it says nothing of how long those take.
   */
  public boolean isError() {
    return json.isErrorAlone();
  }

  /**
   * Whether a response with this status says that the server does not know the model that the
   * request names. A 404 alone does not: the server may lack the path, or be a proxy.
   */
  public boolean isOfUnknownModel(int status) {
    return told(status) == 404 && json.isErrorOfModel();
  }

  /** The status, or what an error in its place says that it is. */
  private int told(int status) {
    int code = json.code();
    return status < 300 && isError() && code >= 400 && code < 600 ? code : status;
  }

  /**
   * How a request has ended whose response was delivered as a whole, and watched.
   *
   * <p>An error with a status below 300 counts as one with the status that is its code. Where it
   * has none that anybody knows, it is as an answer with nothing in it: whose fault it is, what
   * others serve meanwhile tells.
   */
  public Outcome outcome(int status) {
    if (failed()) {
      return Outcome.FAILED;
    }
    return Outcome.of(told(status), isNone() || (status < 300 && isError()));
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
