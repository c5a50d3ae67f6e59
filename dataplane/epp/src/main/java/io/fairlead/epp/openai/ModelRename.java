package io.fairlead.epp.openai;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Gives an answer the model name that the client asked for, in place of the target's, while its
 * bytes pass. One per response; not thread-safe.
 *
 * <p>Looks at {@code model} at the top level of a JSON answer, or of each event of a stream, and in
 * an event also within {@code response} and {@code message}, where the Responses and the Messages
 * API have it. Nothing else is touched, whatever it says. Works byte by byte, so how the body is
 * cut makes no difference; of a name that is cut, what may be the target's is held back until the
 * rest of it comes. What is not JSON passes as it is.
 */
public final class ModelRename {

  private enum Expect {
    KEY,
    IN_KEY,
    COLON,
    VALUE,
    /** Inside a name that is the target's so far. */
    NAME,
    LITERAL,
    COMMA,
    /** Inside a value that does not matter. */
    SKIP,
    /** Nothing more of this document matters. */
    REST
  }

  private static final String MODEL = "model";
  private static final byte[] MODEL_KEY = {'"', 'm', 'o', 'd', 'e', 'l', '"'};
  private static final int LONGEST_KEY = 9;

  /** An escape takes six bytes for what takes one at least. */
  private static final int LONGEST_ESCAPE = 6;

  private final String target;
  private final byte[] targetBytes;
  private final byte[] replacement;
  private final boolean events;
  private final EventLines lines = new EventLines();
  private final ByteWindows.Reader reader;

  private Expect expect = Expect.VALUE;

  /** 1 in the document's object, 2 in an object within it that may name the model, too. */
  private int depth;

  private final byte[] key = new byte[LONGEST_KEY];
  private int keyLength;
  private boolean escape;
  private final SkippedValue skipped = new SkippedValue();

  /** The name as it stands, opening quote included, and how much of it was cut off from before. */
  private final byte[] held;

  private int heldLength;
  private int heldBefore;
  private boolean escaped;

  /** Whether a name has begun since it was last looked for another one behind it. */
  private boolean nameSeen;

  /** Of the piece at hand: where it is looked at, where the name begins, what is written of it. */
  private int at;

  private int nameFrom;
  private int written;
  private ByteBuf current = Unpooled.EMPTY_BUFFER;
  private @Nullable ByteBuf out;
  private boolean changed;

  private ModelRename(String target, String asked, boolean events) {
    this.target = target;
    this.events = events;
    targetBytes = target.getBytes(StandardCharsets.UTF_8);
    replacement = JsonString.of(asked);
    held = new byte[2 + LONGEST_ESCAPE * targetBytes.length];
    reader = events ? this::events : this::document;
  }

  /**
   * What renames one answer.
   *
   * @param target the name that the endpoint knows
   * @param asked the name that the client knows
   * @param contentType the answer's header
   * @return null if there is nothing to do: the names are the same, one is not known, or the answer
   *     is neither JSON nor a stream of events
   */
  public static @Nullable ModelRename of(String target, String asked, String contentType) {
    if (target.isEmpty() || asked.isEmpty() || target.equals(asked)) {
      return null;
    }
    String type = contentType.toLowerCase(Locale.ROOT);
    boolean events = type.startsWith("text/event-stream");
    return events || type.startsWith("application/json")
        ? new ModelRename(target, asked, events)
        : null;
  }

  /**
   * The next bytes of the answer, as the client is to get them.
   *
   * @param piece its readable bytes; taken over
   * @param last whether nothing more comes: nothing is held back then
   * @return {@code piece} itself, where nothing is changed
   */
  public ByteBuf pass(ByteBuf piece, boolean last) {
    int from = piece.readerIndex();
    int to = piece.writerIndex();
    out = null;
    changed = false;
    at = from;
    written = from;
    nameFrom = -1;
    heldBefore = expect == Expect.NAME ? heldLength : 0;
    current = piece;
    ByteWindows.show(piece, reader);
    if (expect == Expect.NAME) {
      if (last) {
        letGo(Expect.REST);
      } else {
        to = nameFrom < 0 ? written : nameFrom;
        changed = true;
      }
    }
    ByteBuf result = out;
    out = null;
    current = Unpooled.EMPTY_BUFFER;
    if (result == null) {
      return piece.writerIndex(to);
    }
    result.writeBytes(piece, written, to - written);
    piece.release();
    return result;
  }

  /** Whether the last piece did not pass as it was. */
  public boolean changed() {
    return changed;
  }

  /** Whether what may be the target's name is held back until the rest of it comes. */
  public boolean holds() {
    return expect == Expect.NAME;
  }

  private ByteBuf out() {
    ByteBuf writing = out;
    if (writing == null) {
      writing =
          current.alloc().heapBuffer(current.readableBytes() + held.length + replacement.length);
      out = writing;
      changed = true;
    }
    return writing;
  }

  private void document(byte[] bytes, int from, int to) {
    int shift = at - from;
    int next = from;
    while (next < to) {
      next = line(bytes, next, to, shift);
      if (next < to) {
        at = shift + next;
        json(bytes[next++]);
      }
    }
    at = shift + to;
  }

  private void events(byte[] bytes, int from, int to) {
    int shift = at - from;
    int next = from;
    while (next < to) {
      if (lines.inData()) {
        if (depth == 0 && expect == Expect.VALUE) {
          next = JsonWords.endOfEventWithout(MODEL_KEY, bytes, next, to);
        }
        next = line(bytes, next, to, shift);
        if (next == to) {
          break;
        }
      }
      at = shift + next;
      byte b = bytes[next++];
      switch (lines.next(b)) {
        case DATA -> json(b);
        case DATA_END -> json((byte) '\n');
        case EVENT_END -> {
          expect = Expect.VALUE;
          depth = 0;
          escape = false;
        }
        case OTHER -> {}
      }
    }
    at = shift + to;
  }

  /** Takes bytes up to the end of a line, and says where that is; {@code to} if it is not there. */
  private int line(byte[] bytes, int from, int to, int shift) {
    int next = from;
    while (next < to) {
      if (expect == Expect.SKIP) {
        next = skipped.ahead(bytes, next, to);
      } else if (expect == Expect.REST) {
        next = JsonWords.control(bytes, next, to);
      }
      if (next < to) {
        byte b = bytes[next];
        if (b == '\n' || b == '\r') {
          return next;
        }
        at = shift + next;
        json(b);
        next++;
        if (nameSeen && expect == Expect.COMMA) {
          nameSeen = false;
          next = events ? JsonWords.endOfEventWithout(MODEL_KEY, bytes, next, to) : next;
        }
      }
    }
    return to;
  }

  private void json(byte b) {
    switch (expect) {
      case SKIP -> {
        if (skipped.next(b)) {
          expect = Expect.COMMA;
        }
      }
      case NAME -> name(b);
      case IN_KEY -> inKey(b);
      case KEY -> {
        if (b == '"') {
          keyLength = 0;
          expect = Expect.IN_KEY;
        } else {
          between(b, ',', Expect.KEY);
        }
      }
      case COLON -> between(b, ':', Expect.VALUE);
      case VALUE -> value(b);
      case LITERAL -> {
        if (b == ',' || b == '}' || JsonScanner.isWhitespace(b)) {
          expect = Expect.COMMA;
          between(b, ',', Expect.KEY);
        }
      }
      case COMMA -> between(b, ',', Expect.KEY);
      case REST -> {}
    }
  }

  private void between(byte b, char wanted, Expect then) {
    if (b == wanted) {
      expect = then;
    } else if (b == '}' && wanted == ',') {
      depth--;
      expect = depth == 0 ? Expect.REST : Expect.COMMA;
    } else if (!JsonScanner.isWhitespace(b)) {
      expect = Expect.REST;
    }
  }

  private void inKey(byte b) {
    if (b == '"' && !escape) {
      expect = Expect.COLON;
      return;
    }
    escape = b == '\\' && !escape;
    if (keyLength < key.length) {
      key[keyLength] = b;
    }
    keyLength++;
  }

  private boolean isKey(String name) {
    return keyLength <= key.length && JsonString.same(name, key, 0, keyLength);
  }

  private void value(byte b) {
    switch (b) {
      case '{' -> {
        boolean naming =
            depth == 0 || (depth == 1 && events && (isKey("response") || isKey("message")));
        if (naming) {
          depth++;
          expect = Expect.KEY;
        } else {
          skipped.beginContainer();
          expect = Expect.SKIP;
        }
      }
      case '[' -> {
        skipped.beginContainer();
        expect = depth == 0 ? Expect.REST : Expect.SKIP;
      }
      case '"' -> string();
      default -> {
        if (!JsonScanner.isWhitespace(b)) {
          expect = depth == 0 ? Expect.REST : Expect.LITERAL;
        }
      }
    }
  }

  private void string() {
    if (depth == 0) {
      expect = Expect.REST;
    } else if (isKey(MODEL)) {
      expect = Expect.NAME;
      nameSeen = true;
      nameFrom = at;
      held[0] = '"';
      heldLength = 1;
      heldBefore = 0;
      escaped = false;
    } else {
      skipped.beginString(false);
      expect = Expect.SKIP;
    }
  }

  private void name(byte b) {
    if (b == '"' && !escape) {
      if (isTarget()) {
        rename();
      } else {
        letGo(Expect.COMMA);
      }
      return;
    }
    boolean beginsEscape = b == '\\' && !escape;
    boolean asTarget =
        escaped
            || beginsEscape
            || (heldLength <= targetBytes.length && targetBytes[heldLength - 1] == b);
    escape = beginsEscape;
    escaped |= beginsEscape;
    if (asTarget && heldLength < held.length) {
      held[heldLength++] = b;
    } else {
      skipped.beginString(escape);
      escape = false;
      letGo(Expect.SKIP);
    }
  }

  private boolean isTarget() {
    return escaped
        ? target.equals(JsonString.text(held, 1, heldLength))
        : heldLength - 1 == targetBytes.length;
  }

  private void rename() {
    ByteBuf writing = out();
    if (nameFrom >= 0) {
      writing.writeBytes(current, written, nameFrom - written);
    }
    writing.writeBytes(replacement);
    written = at + 1;
    heldBefore = 0;
    expect = Expect.COMMA;
  }

  /** It is another name: what was held back of it passes. */
  private void letGo(Expect next) {
    if (heldBefore > 0) {
      out().writeBytes(held, 0, heldBefore);
      heldBefore = 0;
    }
    expect = next;
  }
}
