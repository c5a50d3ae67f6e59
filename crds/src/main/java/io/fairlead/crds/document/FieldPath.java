package io.fairlead.crds.document;

import java.util.regex.Pattern;

/**
 * Where in a document a value is, as people write it: {@code plugins[1].parameters["a.b"]}; empty
 * for the document itself.
 *
 * @param text the path
 */
public record FieldPath(String text) {
  public static final FieldPath ROOT = new FieldPath("");

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");
  private static final int LONGEST_QUOTE = 80;

  /** The field {@code key} of the object here. */
  public FieldPath field(String key) {
    if (PLAIN.matcher(key).matches()) {
      return new FieldPath(text.isEmpty() ? key : text + "." + key);
    }
    return new FieldPath(text + "[" + quote(key) + "]");
  }

  /** The element {@code index} (from 0) of the list here. */
  public FieldPath element(int index) {
    return new FieldPath(text + "[" + index + "]");
  }

  /** A path that starts here. */
  FieldPath below(String path) {
    return new FieldPath(text.isEmpty() ? path : text + "." + path);
  }

  @Override
  public String toString() {
    return text;
  }

  /**
   * {@code text} in quotes on one line, cut where it is long, so that hostile input cannot flood or
   * forge a message.
   */
  public static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    int length = text.codePointCount(0, text.length());
    text.codePoints().limit(LONGEST_QUOTE).forEach(c -> append(quoted, c));
    return quoted
        .append(length > LONGEST_QUOTE ? "…\" (" + length + " characters)" : "\"")
        .toString();
  }

  private static void append(StringBuilder quoted, int codePoint) {
    if (codePoint == '"' || codePoint == '\\') {
      quoted.append('\\').appendCodePoint(codePoint);
    } else if (codePoint == '\n') {
      quoted.append("\\n");
    } else if (Character.isISOControl(codePoint)
        || Character.getType(codePoint) == Character.SURROGATE
        || Character.getType(codePoint) == Character.FORMAT
        || Character.getType(codePoint) == Character.LINE_SEPARATOR
        || Character.getType(codePoint) == Character.PARAGRAPH_SEPARATOR) {
      quoted.append(String.format("\\u%04x", codePoint));
    } else {
      quoted.appendCodePoint(codePoint);
    }
  }
}
