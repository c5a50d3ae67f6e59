package io.fairlead.epp.openai;

import io.netty.buffer.ByteBuf;
import java.util.Locale;
import java.util.Set;

/**
 * Finds where an answer begins in the bytes of its body: with the first of what was asked for, and
 * not with what a server sends to say that it still has the request. One per response; looks at
 * nothing any more once it has begun.
 *
 * <p>A stream of events begins with the first data, but for that of the events which the Responses
 * and the Messages API begin with: vLLM sends {@code response.created} before its engine has seen
 * the request. Comments, events without data and {@code ping} keep a connection open, and say
 * nothing of the engine. The first chunk of a chat, with a role and no text, is a beginning: vLLM
 * and SGLang send it when their engines have come up with the first token, and to tell it from
 * others every server's chunks would have to be read as JSON.
 *
 * <p>A document begins with what is no white space, which some servers send meanwhile. What is of
 * another kind, or can't be read, begins with its first byte.
 */
public final class AnswerBeginning {

  /** Events that say that the request has come, or that it is still there. */
  private static final Set<String> BEFORE =
      Set.of(
          "response.created",
          "response.queued",
          "response.in_progress",
          "message_start",
          "content_block_start",
          "ping",
          "keepalive");

  private static final int LONGEST_NAME = 32;
  private static final int LONGEST_FIELD = 5;

  private enum Kind {
    EVENTS,
    DOCUMENT,
    ANY
  }

  /** Where in a line of a stream the next byte is. */
  private enum Place {
    /** In the name of its field. */
    FIELD,
    /** In the name of the event. */
    NAME,
    DATA,
    /** In what says nothing. */
    REST
  }

  private final Kind kind;
  private boolean begun;
  private Place place = Place.FIELD;
  private final StringBuilder field = new StringBuilder(LONGEST_FIELD);
  private final StringBuilder name = new StringBuilder(LONGEST_NAME);
  private boolean afterCarriageReturn;

  /**
   * The beginning of one answer.
   *
   * @param contentType the response's header
   * @param contentEncoding the response's header, empty for none
   */
  public AnswerBeginning(String contentType, String contentEncoding) {
    String type = contentType.toLowerCase(Locale.ROOT);
    if (!ContentCoding.isNone(contentEncoding)) {
      kind = Kind.ANY;
    } else if (type.contains("text/event-stream")) {
      kind = Kind.EVENTS;
    } else {
      kind = type.contains("json") ? Kind.DOCUMENT : Kind.ANY;
    }
  }

  /**
   * Looks at the next bytes of the body without consuming them; says whether the answer has begun
   * with them or before.
   */
  public boolean in(ByteBuf bytes) {
    int end = bytes.writerIndex();
    for (int at = bytes.readerIndex(); at < end && !begun; at++) {
      next(bytes.getByte(at));
    }
    return begun;
  }

  private void next(byte b) {
    switch (kind) {
      case ANY -> begun = true;
      case DOCUMENT -> begun = !JsonScanner.isWhitespace(b);
      case EVENTS -> event(b);
    }
  }

  private void event(byte b) {
    boolean secondOfLineEnd = afterCarriageReturn && b == '\n';
    afterCarriageReturn = b == '\r';
    if (secondOfLineEnd) {
      return;
    }
    if (b == '\n' || b == '\r') {
      endLine();
      return;
    }
    switch (place) {
      case FIELD -> {
        if (b == ':') {
          place = afterField();
        } else if (field.length() == LONGEST_FIELD) {
          begun = true; // no field has such a name: it is no stream of events
        } else if (!field.isEmpty() || !JsonScanner.isOfByteOrderMark(b)) {
          field.append((char) b);
        }
      }
      case NAME -> {
        if (name.length() < LONGEST_NAME && (b != ' ' || !name.isEmpty())) {
          name.append((char) b);
        }
      }
      case DATA -> begun = !JsonScanner.isWhitespace(b);
      case REST -> {}
    }
  }

  private Place afterField() {
    return switch (field.toString()) {
      case "", "id", "retry" -> Place.REST;
      case "event" -> {
        name.setLength(0);
        yield Place.NAME;
      }
      case "data" -> BEFORE.contains(name.toString()) ? Place.REST : Place.DATA;
      default -> {
        begun = true; // it is no stream of events
        yield Place.REST;
      }
    };
  }

  private void endLine() {
    if (place == Place.FIELD && field.isEmpty()) {
      name.setLength(0); // the line behind an event
    }
    field.setLength(0);
    place = Place.FIELD;
  }
}
