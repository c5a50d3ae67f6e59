package io.fairlead.epp.openai;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Looks for bytes that matter in JSON, eight bytes at a time.
 *
 * <p>Of a word, the highest bit of each byte is set that is looked for: a byte below {@code n}
 * borrows when {@code n} is taken away, and one that equals another is 0, which is below 1, once
 * both are mixed by exclusive or. A borrow can mark bytes above the first hit wrongly, never below
 * it, and only the first is used.
 */
final class JsonWords {

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGH = 0x8080808080808080L;
  private static final long SPACES = ONES * ' ';
  private static final long QUOTES = ONES * '"';
  private static final long BACKSLASHES = ONES * '\\';

  /** Both kinds of brackets differ in this bit. */
  private static final long NOT_KIND = ~(ONES * 0x20);

  private static final long OPENING = ONES * '[';
  private static final long CLOSING = ONES * ']';

  private static final byte[] NULL = {':', 'n', 'u', 'l', 'l'};
  private static final byte[] SPACED_NULL = {':', ' ', 'n', 'u', 'l', 'l'};

  private JsonWords() {}

  /** Where the first quote, backslash or control character is; {@code to} if there is none. */
  static int endOfText(byte[] bytes, int from, int to) {
    int at = from;
    for (; to - at >= Long.BYTES; at += Long.BYTES) {
      long word = (long) WORD.get(bytes, at);
      long hits = (below(word, SPACES) | none(word ^ QUOTES) | none(word ^ BACKSLASHES)) & HIGH;
      if (hits != 0) {
        return at + first(hits);
      }
    }
    while (at < to && !(isControl(bytes[at]) || bytes[at] == '"' || bytes[at] == '\\')) {
      at++;
    }
    return at;
  }

  /** Where the first quote, bracket or control character is; {@code to} if there is none. */
  static int structure(byte[] bytes, int from, int to) {
    int at = from;
    for (; to - at >= Long.BYTES; at += Long.BYTES) {
      long word = (long) WORD.get(bytes, at);
      long brackets = word & NOT_KIND;
      long hits =
          (below(word, SPACES)
                  | none(word ^ QUOTES)
                  | none(brackets ^ OPENING)
                  | none(brackets ^ CLOSING))
              & HIGH;
      if (hits != 0) {
        return at + first(hits);
      }
    }
    while (at < to && !isStructure(bytes[at])) {
      at++;
    }
    return at;
  }

  private static boolean isStructure(byte b) {
    return isControl(b) || b == '"' || b == '[' || b == ']' || b == '{' || b == '}';
  }

  /** Where the first control character is; {@code to} if there is none. */
  static int control(byte[] bytes, int from, int to) {
    int at = from;
    for (; to - at >= Long.BYTES; at += Long.BYTES) {
      long hits = below((long) WORD.get(bytes, at), SPACES) & HIGH;
      if (hits != 0) {
        return at + first(hits);
      }
    }
    while (at < to && !isControl(bytes[at])) {
      at++;
    }
    return at;
  }

  private static boolean isControl(byte b) {
    return b >= 0 && b < ' ';
  }

  /**
   * Where the first byte may be that is a quote, a backslash, a control character or no ASCII:
   * there, or some bytes before {@code to} if there is none.
   */
  static int endOfPlainWords(byte[] bytes, int from, int to) {
    int at = from;
    for (; to - at >= Long.BYTES; at += Long.BYTES) {
      long word = (long) WORD.get(bytes, at);
      long hits =
          (word | (word - SPACES) | ((word ^ QUOTES) - ONES) | ((word ^ BACKSLASHES) - ONES))
              & HIGH;
      if (hits != 0) {
        return at + first(hits);
      }
    }
    return at;
  }

  /**
   * Passes the rest of an event's data of which nothing matters.
   *
   * @param key what would matter under it unless it is {@code null}: in quotes, at least a letter
   * @return where the line of data ends, if the event ends behind it and the key is not in it; else
   *     {@code from}: that must be looked at
   */
  static int endOfEventWithout(byte[] key, byte[] bytes, int from, int to) {
    return endOfEventWithout(key, key, bytes, from, to);
  }

  /** The same of two keys. */
  static int endOfEventWithout(byte[] one, byte[] other, byte[] bytes, int from, int to) {
    long ones = ONES * one[1];
    long others = ONES * other[1];
    int at = from;
    while (to - at > Long.BYTES) {
      long word = (long) WORD.get(bytes, at);
      long next = (long) WORD.get(bytes, at + 1);
      long letters = none(next ^ ones) | none(next ^ others);
      long hits = (below(word, SPACES) | (none(word ^ QUOTES) & letters)) & HIGH;
      if (hits == 0) {
        at += Long.BYTES;
        continue;
      }
      at += first(hits);
      if (bytes[at] == '\n') {
        return at + 1 < to && bytes[at + 1] == '\n' ? at : from;
      }
      if (bytes[at] == '\r' || isUnder(one, bytes, at, to) || isUnder(other, bytes, at, to)) {
        return from;
      }
      at++;
    }
    // What is left ends the event, or does not.
    int end = control(bytes, at, to);
    boolean ends = end + 1 < to && bytes[end] == '\n' && bytes[end + 1] == '\n';
    return ends && !isIn(one, bytes, at, end) && !isIn(other, bytes, at, end) ? end : from;
  }

  private static boolean isIn(byte[] key, byte[] bytes, int from, int to) {
    for (int at = from; at < to; at++) {
      if (isUnder(key, bytes, at, to)) {
        return true;
      }
    }
    return false;
  }

  /** Whether what is there under the key may matter, and whether it is that if it is cut off. */
  private static boolean isUnder(byte[] key, byte[] bytes, int at, int to) {
    int end = Math.min(to, at + key.length);
    return Arrays.equals(bytes, at, end, key, 0, end - at)
        && !isThere(NULL, bytes, end, to)
        && !isThere(SPACED_NULL, bytes, end, to);
  }

  private static boolean isThere(byte[] text, byte[] bytes, int at, int to) {
    int end = at + text.length;
    return end <= to && Arrays.equals(bytes, at, end, text, 0, text.length);
  }

  private static long below(long word, long limits) {
    return (word - limits) & ~word;
  }

  private static long none(long word) {
    return below(word, ONES);
  }

  private static int first(long hits) {
    return Long.numberOfTrailingZeros(hits) >>> 3;
  }
}
