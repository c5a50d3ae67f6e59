package io.fairlead.epp.openai;

import io.fairlead.core.Outcome;
import io.fairlead.core.Usage;
import io.fairlead.epp.openai.UsageScanner.Answers;
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
  private final StreamEnd end = new StreamEnd();
  private final ByteWindows.Reader reader;
  private int events;
  private boolean hasData;

  private final boolean stream;

  /** Whether it says itself that its body is JSON or events. */
  private final boolean saysSo;

  /** Whether its body shows if it is an answer, once it is whole. */
  private final boolean readable;

  private Body body;

  /** The field that its first event may begin with, and how much of that has come. */
  private String field = "";

  private int matched;

  private enum Body {
    /** Of anything: it may be what it wants to be. */
    ANY,
    /** Of a completion, and nothing of it has come. */
    NOTHING,
    /** Of JSON or events, which have to be an answer. */
    ANSWER,
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
    this(path, contentType, true);
  }

  private ResponseWatcher(String path, String contentType, boolean readable) {
    String type = contentType.toLowerCase(Locale.ROOT);
    Operation operation = Operation.of(path);
    this.readable = readable;
    stream = type.contains("text/event-stream");
    reader = stream ? this::events : this::document;
    saysSo = stream || type.contains("json");
    boolean vectors = operation == Operation.EMBEDDINGS && saysSo && !stream && readable;
    if (operation.isCompletion()) {
      body = Body.NOTHING;
      json = new UsageScanner(Answers.TEXT);
    } else {
      body = vectors ? Body.ANSWER : Body.ANY;
      json = new UsageScanner(vectors ? Answers.VECTORS : Answers.UNKNOWN);
    }
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
    boolean readable = ContentCoding.isNone(contentEncoding);
    return new ResponseWatcher(
        path, contentType.isEmpty() && !readable ? JSON : contentType, readable);
  }

  /**
   * A watcher for one response whose headers nobody has seen: whatever comes may be an answer.
   *
   * @param path of the request
   * @param asked what the request wants for a content type
   */
  public static ResponseWatcher withoutHeaders(String path, String asked) {
    return new ResponseWatcher(path, asked, false);
  }

  /** Looks at the next bytes of the body without consuming them. */
  public void watch(ByteBuf bytes) {
    if (body == Body.NOTHING) {
      body = begins(bytes);
    }
    ByteWindows.show(bytes, reader);
  }

  private Body begins(ByteBuf bytes) {
    if (stream || (saysSo && !readable)) {
      return bytes.isReadable() ? known() : Body.NOTHING;
    }
    for (int at = bytes.readerIndex(); at < bytes.writerIndex() && body == Body.NOTHING; at++) {
      body = begins(bytes.getByte(at));
    }
    return body;
  }

  private Body known() {
    return readable ? Body.ANSWER : Body.ANY;
  }

  /** Of a body that is not said to be events. */
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
        if (b == ':') {
          return Body.ANY; // a comment
        }
        if (JsonScanner.isWhitespace(b) || JsonScanner.isOfByteOrderMark(b)) {
          return Body.NOTHING;
        }
        return saysSo || b == '{' || b == '[' ? known() : Body.OTHER;
      }
    } else if (field.charAt(matched) != b) {
      return saysSo ? known() : Body.OTHER;
    }
    matched++;
    return matched == field.length() ? Body.ANY : Body.NOTHING;
  }

  /**
   * Whether a completion was asked for and this is none, as far as it has come: no byte, or neither
   * JSON nor events, such as the page of a proxy that wants a password. Of most other requests
   * nobody knows what their answers are.
   */
  boolean isNone() {
    return body == Body.NOTHING || body == Body.OTHER;
  }

  /** Whether nothing of what was asked for is in it, now that it is whole. */
  private boolean lacksAnswer() {
    return body == Body.ANSWER && !json.isAnswer() && (stream || !json.isList());
  }

  /** Whether it is an answer that has begun and ends in its middle, now that no more comes. */
  private boolean isBrokenOff() {
    return body == Body.ANSWER
        && (stream
            ? json.isUnfinished() && !end.isReached()
            : (json.isAnswer() || json.isList()) && !json.isWhole());
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
   * Whether an answer with this status is a failure whatever is in it: a 5xx, or an interim status
   * that nothing follows, such as that of a switch to another protocol, which nobody asked for.
   */
  public static boolean isFailure(int status) {
    return status >= 500 || (status >= 100 && status < 200);
  }

  /**
   * How a request has ended whose response was delivered as a whole, and watched.
   *
   * <p>An error with a status below 300 counts as one with the status that is its code. Where it
   * has none that anybody knows, it is as an answer with nothing in it: whose fault it is, what
   * others serve meanwhile tells. An answer that ends in its middle has broken off, however well
   * its body is framed.
   */
  public Outcome outcome(int status) {
    boolean good = status < 300;
    if (failed() || isFailure(status) || (good && isBrokenOff())) {
      return Outcome.FAILED;
    }
    return Outcome.of(told(status), isNone() || (good && (isError() || lacksAnswer())));
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

  private void events(byte[] bytes, int begin, int to) {
    int at = begin;
    while (at < to) {
      if (lines.inData()) {
        int from = json.event(bytes, at, to);
        at = json.line(bytes, from, to);
        end.data(bytes, from, at);
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
          end.other(b);
        }
        case EVENT_END -> {
          events += hasData ? 1 : 0;
          hasData = false;
          json.reset();
        }
        case OTHER -> end.other(b);
      }
    }
  }
}
