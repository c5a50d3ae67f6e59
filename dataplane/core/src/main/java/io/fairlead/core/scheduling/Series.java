package io.fairlead.core.scheduling;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A series on a metrics page.
 *
 * @param name its exact name
 * @param labels labels that it must carry with exactly these values
 */
public record Series(String name, Map<String, String> labels) {

  public Series {
    labels = Map.copyOf(labels);
  }

  /**
   * Reads {@code name} or <code>name{label="value",…}</code>, values with or without quotes.
   *
   * @throws IllegalArgumentException if it is neither, with what is wrong
   */
  static Series parse(String text) {
    int open = text.indexOf('{');
    String name = (open < 0 ? text : text.substring(0, open)).strip();
    if (name.isEmpty() || !name.chars().allMatch(Series::inName)) {
      throw new IllegalArgumentException("is \"" + text + "\"; begin with the name of a series");
    }
    if (open < 0) {
      return new Series(name, Map.of());
    }
    Cursor cursor = new Cursor(text, open + 1);
    Map<String, String> labels = new LinkedHashMap<>();
    while (!cursor.accept('}')) {
      String label = cursor.until("=!~,}").strip();
      if (!cursor.accept('=') || cursor.next() == '~' || label.isEmpty()) {
        throw cursor.wrong("write labels as label=\"value\"; other operators are not read");
      }
      if (labels.put(label, cursor.value()) != null) {
        throw cursor.wrong("name each label once");
      }
      if (!cursor.accept(',') && cursor.next() != '}') {
        throw cursor.wrong("write a comma between labels and } after the last");
      }
    }
    if (!cursor.atEnd()) {
      throw cursor.wrong("end after }");
    }
    return new Series(name, labels);
  }

  private static boolean inName(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '_'
        || c == ':';
  }

  private static final class Cursor {
    private final String text;
    private int at;

    Cursor(String text, int at) {
      this.text = text;
      this.at = at;
    }

    /** The next character that is no blank, 0 at the end. */
    char next() {
      while (at < text.length() && text.charAt(at) == ' ') {
        at++;
      }
      return at < text.length() ? text.charAt(at) : 0;
    }

    boolean accept(char c) {
      boolean there = next() == c;
      at += there ? 1 : 0;
      return there;
    }

    boolean atEnd() {
      return next() == 0;
    }

    String until(String ends) {
      int from = at;
      while (at < text.length() && ends.indexOf(text.charAt(at)) < 0) {
        at++;
      }
      return text.substring(from, at);
    }

    String value() {
      if (!accept('"')) {
        return until(",}").strip();
      }
      StringBuilder value = new StringBuilder();
      while (at < text.length() && text.charAt(at) != '"') {
        if (text.charAt(at) == '\\' && at + 1 < text.length()) {
          at++;
        }
        value.append(text.charAt(at++));
      }
      if (!accept('"')) {
        throw wrong("end each value with a quote");
      }
      return value.toString();
    }

    IllegalArgumentException wrong(String instead) {
      return new IllegalArgumentException("is \"" + text + "\"; " + instead);
    }
  }
}
