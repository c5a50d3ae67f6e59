package io.fairlead.crds.document;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where in a document a value is, as people write it: {@code plugins[1].parameters["a.b"]}; empty
 * for the document itself. The text is made when it is asked for: of the many paths of a document
 * few are ever told.
 */
public final class FieldPath {
  public static final FieldPath ROOT = new FieldPath("");

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");
  private static final int LONGEST_QUOTE = 80;

  private final @Nullable FieldPath parent;

  /** Of a field; the whole text where there is no parent. */
  private final String key;

  /** Of an element; below 0 for a field. */
  private final int index;

  /**
   * @param text the path
   */
  public FieldPath(String text) {
    this(null, text, -1);
  }

  private FieldPath(@Nullable FieldPath parent, String key, int index) {
    this.parent = parent;
    this.key = key;
    this.index = index;
  }

  /** The field {@code key} of the object here. */
  public FieldPath field(String key) {
    return new FieldPath(this, key, -1);
  }

  /** The element {@code index} (from 0) of the list here. */
  public FieldPath element(int index) {
    return new FieldPath(this, "", index);
  }

  /** A path that starts here. */
  FieldPath below(String path) {
    String here = text();
    return new FieldPath(here.isEmpty() ? path : here + "." + path);
  }

  /** The path as people write it. */
  public String text() {
    if (parent == null) {
      return key;
    }
    String before = parent.text();
    if (index >= 0) {
      return before + "[" + index + "]";
    }
    if (PLAIN.matcher(key).matches()) {
      return before.isEmpty() ? key : before + "." + key;
    }
    return before + "[" + quote(key) + "]";
  }

  @Override
  public String toString() {
    return text();
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
