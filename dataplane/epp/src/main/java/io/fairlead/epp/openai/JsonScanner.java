package io.fairlead.epp.openai;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A cursor over JSON in UTF-8 that checks what it passes and builds nothing. Strict as RFC 8259,
 * with a bound on nesting; needs no recursion, so no input can exhaust the stack.
 *
 * <p>Text in strings is passed eight bytes at a time, as long as it is plain ASCII.
 */
final class JsonScanner {

  /** Objects and arrays inside one another, the outermost included. */
  static final int MAX_DEPTH = 500;

  private static final byte[] NOTHING = {};
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};
  private static final BodyBytes NO_BODY = new BodyBytes();

  private final boolean[] isObject = new boolean[MAX_DEPTH];
  private BodyBytes body = NO_BODY;

  /** The part of the body at the cursor, and where in its array the cursor and its end are. */
  private int part;

  private byte[] bytes = NOTHING;
  private int pos;
  private int end;

  /** What is added to a place in the part's array for its place in the body. */
  private int shift;

  private boolean escaped;
  private @Nullable PromptSpans spans;
  private @Nullable MediaParts media;
  private int spanFrom;
  private int elements;

  void begin(BodyBytes read) {
    body = read;
    part = -1;
    bytes = NOTHING;
    pos = 0;
    end = 0;
    shift = 0;
    spans = null;
    media = null;
  }

  /** Lets go of the body. */
  void release() {
    begin(NO_BODY);
  }

  /** Place of the cursor in the body. */
  int position() {
    return pos + shift;
  }

  /** Whether there is a byte at the cursor. */
  private boolean has() {
    return pos < end || nextPart();
  }

  private boolean nextPart() {
    int place = position();
    while (part + 1 < body.parts()) {
      part++;
      bytes = body.array(part);
      shift = -body.shift(part);
      end = body.end(part) - shift;
      pos = place - shift;
      if (pos < end) {
        return true;
      }
    }
    return false;
  }

  /** Whether the string passed last has escapes in it. */
  boolean escaped() {
    return escaped;
  }

  /** The byte at the cursor. */
  int peek() throws BadRequestException {
    if (!has()) {
      throw broken("it ends too early");
    }
    return bytes[pos];
  }

  /** Passes {@code expected} and the whitespace around it. */
  void expect(char expected) throws BadRequestException {
    whitespace();
    if (peek() != expected) {
      throw broken("'" + expected + "' expected");
    }
    pos++;
    whitespace();
  }

  /** Passes {@code wanted} and the whitespace after it, if it is there. */
  boolean accept(char wanted) throws BadRequestException {
    if (peek() != wanted) {
      return false;
    }
    pos++;
    whitespace();
    return true;
  }

  /** Passes a byte order mark, which some clients begin with; to be asked for at the beginning. */
  void byteOrderMark() throws BadRequestException {
    if (!has() || bytes[pos] != BYTE_ORDER_MARK[0]) {
      return;
    }
    for (byte next : BYTE_ORDER_MARK) {
      if (peek() != next) {
        throw broken("it is not UTF-8");
      }
      pos++;
    }
  }

  void expectEnd() throws BadRequestException {
    whitespace();
    if (has()) {
      throw broken("there is something after the object");
    }
  }

  void whitespace() {
    int from = position();
    while (has() && isWhitespace(bytes[pos])) {
      pos++;
    }
    int to = position();
    if (spans != null && to != from) {
      if (from > spanFrom) {
        spans.add(spanFrom, from);
      }
      spanFrom = to;
    }
  }

  static boolean isWhitespace(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  /** Whether it is one of the bytes of a byte order mark in UTF-8. */
  static boolean isOfByteOrderMark(byte b) {
    return b == BYTE_ORDER_MARK[0] || b == BYTE_ORDER_MARK[1] || b == BYTE_ORDER_MARK[2];
  }

  /**
   * Passes one value inside the outermost object.
   *
   * @param into gets the value's bytes without the whitespace between its tokens; null for none
   * @param parts says which of its strings may be no text; null when all are
   */
  void value(@Nullable PromptSpans into, @Nullable MediaParts parts) throws BadRequestException {
    spans = into;
    media = parts;
    spanFrom = position();
    elements = 1;
    int depth = 1;
    do {
      depth = opening(depth);
      while (depth > 1) {
        whitespace();
        int c = peek();
        boolean object = isObject[depth - 1];
        if (c == ',') {
          elements += depth == 2 ? 1 : 0;
          pos++;
          whitespace();
          if (object) {
            key(depth - 1);
          }
          break;
        }
        if (c != (object ? '}' : ']')) {
          throw broken(object ? "',' or '}' expected" : "',' or ']' expected");
        }
        pos++;
        depth--;
        if (object && media != null) {
          media.leave(depth);
        }
      }
    } while (depth > 1);
    spans = null;
    media = null;
    if (into != null) {
      into.add(spanFrom, position());
    }
  }

  /** Elements of the list that was passed last, of one that has any. */
  int elements() {
    return elements;
  }

  /** Passes a scalar or an empty container, or goes into containers up to their first value. */
  private int opening(int outer) throws BadRequestException {
    int depth = outer;
    while (true) {
      int c = peek();
      if (c != '{' && c != '[') {
        int from = position();
        scalar(c);
        if (c == '"' && media != null && depth > 1 && isObject[depth - 1]) {
          string(depth - 1, from, media);
        }
        return depth;
      }
      pos++;
      whitespace();
      if (depth == MAX_DEPTH) {
        throw broken("it is nested deeper than " + MAX_DEPTH + " levels");
      }
      if (peek() == c + 2) { // in ASCII both closing brackets stand two after their opening ones
        pos++;
        return depth;
      }
      isObject[depth++] = c == '{';
      if (c == '{') {
        if (media != null) {
          media.enter(depth - 1, depth > 2 && isObject[depth - 2]);
        }
        key(depth - 1);
      }
    }
  }

  /** Passes a key of the object at this depth. */
  private void key(int depth) throws BadRequestException {
    int from = position();
    string();
    MediaParts parts = media;
    if (parts != null && escaped) {
      parts.key(depth, text(from, position(), true));
    } else if (parts != null) {
      parts.key(depth, from + 1, position() - 1);
    }
    expect(':');
  }

  /** Takes a string that was passed out of the text, if it may be none. */
  private void string(int depth, int from, MediaParts parts) {
    PromptSpans into = spans;
    int to = position();
    if (into != null && parts.string(depth, from + 1, to - 1)) {
      into.add(spanFrom, from);
      into.addMedia(from, to);
      spanFrom = to;
    }
  }

  private void scalar(int c) throws BadRequestException {
    switch (c) {
      case '"' -> string();
      case 't' -> literal("true");
      case 'f' -> literal("false");
      case 'n' -> literal("null");
      default -> number();
    }
  }

  private void literal(String text) throws BadRequestException {
    for (int i = 0; i < text.length(); i++) {
      if (!has() || bytes[pos] != text.charAt(i)) {
        throw broken("a value expected");
      }
      pos++;
    }
  }

  private void number() throws BadRequestException {
    if (bytes[pos] == '-') {
      pos++;
    }
    if (has() && bytes[pos] == '0') {
      pos++;
    } else {
      digits("a value expected");
    }
    if (has() && bytes[pos] == '.') {
      pos++;
      digits("a digit expected after the decimal point");
    }
    if (has() && (bytes[pos] | 0x20) == 'e') {
      pos++;
      if (has() && (bytes[pos] == '+' || bytes[pos] == '-')) {
        pos++;
      }
      digits("a digit expected in the exponent");
    }
  }

  private void digits(String otherwise) throws BadRequestException {
    int from = position();
    while (has() && bytes[pos] >= '0' && bytes[pos] <= '9') {
      pos++;
    }
    if (position() == from) {
      throw broken(otherwise);
    }
  }

  /** Passes a string, quotes included. */
  void string() throws BadRequestException {
    if (peek() != '"') {
      throw broken("a string expected");
    }
    pos++;
    escaped = false;
    while (true) {
      pos = JsonWords.endOfPlainWords(bytes, pos, end);
      byte b = (byte) peek();
      if (b == '"') {
        pos++;
        return;
      } else if (b == '\\') {
        escaped = true;
        pos++;
        escape();
      } else if (b < 0) {
        pos += sequence(b & 0xff);
      } else if (b < 0x20) {
        throw broken("a control character in a string must be escaped");
      } else {
        pos++;
      }
    }
  }

  private void escape() throws BadRequestException {
    int c = peek();
    pos++;
    if (c == 'u') {
      for (int i = 0; i < 4; i++) {
        if (Character.digit(peek(), 16) < 0) {
          throw broken("four hex digits expected after \\u");
        }
        pos++;
      }
    } else if ("\"\\/bfnrt".indexOf(c) < 0) {
      throw broken("no such escape");
    }
  }

  /** Length of the UTF-8 sequence at the cursor: no overlong form, no surrogate, in range. */
  private int sequence(int lead) throws BadRequestException {
    int length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || body.length() - position() < length) {
      throw broken("it is not UTF-8");
    }
    int second = ahead(1) & 0xff;
    int lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    int highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    boolean good = second >= lowest && second <= highest;
    for (int i = 2; i < length; i++) {
      good &= (ahead(i) & 0xc0) == 0x80;
    }
    if (!good) {
      throw broken("it is not UTF-8");
    }
    return length;
  }

  /** The byte so many places behind the cursor. */
  private byte ahead(int places) {
    int at = pos + places;
    return at < end ? bytes[at] : body.at(at + shift);
  }

  /** Whether the value that was passed from there on is a string. */
  boolean isString(int from) {
    return body.at(from) == '"';
  }

  /** The text of a string that was passed, from its opening quote to after its closing one. */
  String text(int from, int to, boolean hasEscapes) {
    String raw = body.text(from + 1, to - 1, StandardCharsets.UTF_8);
    if (!hasEscapes) {
      return raw;
    }
    StringBuilder text = new StringBuilder(raw.length());
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c != '\\') {
        text.append(c);
        continue;
      }
      c = raw.charAt(++i);
      switch (c) {
        case 'b' -> text.append('\b');
        case 'f' -> text.append('\f');
        case 'n' -> text.append('\n');
        case 'r' -> text.append('\r');
        case 't' -> text.append('\t');
        case 'u' -> {
          text.append((char) Integer.parseInt(raw, i + 1, i + 5, 16));
          i += 4;
        }
        default -> text.append(c);
      }
    }
    return text.toString();
  }

  /** The error for JSON that breaks at the cursor. */
  BadRequestException broken(String what) {
    return new BadRequestException(
        400,
        ErrorCodes.INVALID_JSON,
        "The body is not valid JSON: at byte " + position() + " " + what + ".");
  }
}
