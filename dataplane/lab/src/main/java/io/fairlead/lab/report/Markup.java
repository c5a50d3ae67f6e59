package io.fairlead.lab.report;

import java.util.ArrayDeque;
import java.util.Deque;

/** HTML and SVG as it is written: well-formed XML, every text and attribute escaped. */
final class Markup {

  private final StringBuilder out = new StringBuilder();
  private final Deque<String> open = new ArrayDeque<>();

  /** Opens an element; attributes are pairs of name and value. */
  Markup open(String tag, String... attributes) {
    tag(tag, attributes).append('>');
    open.push(tag);
    return this;
  }

  /** Closes the element that was opened last. */
  Markup close() {
    out.append("</").append(open.pop()).append('>');
    return this;
  }

  /** Closes the element that was opened last and begins a line. */
  Markup closeLine() {
    close();
    out.append('\n');
    return this;
  }

  /** An element that holds text alone. */
  Markup element(String tag, String text, String... attributes) {
    return open(tag, attributes).text(text).close();
  }

  /** An element that holds nothing. */
  Markup empty(String tag, String... attributes) {
    tag(tag, attributes).append("/>");
    return this;
  }

  Markup text(String text) {
    for (int i = 0; i < text.length(); i++) {
      escape(text.charAt(i));
    }
    return this;
  }

  /** Markup that is known to be right, such as a style sheet of ours. */
  Markup raw(String markup) {
    out.append(markup);
    return this;
  }

  @Override
  public String toString() {
    if (!open.isEmpty()) {
      throw new IllegalStateException("still open: " + open);
    }
    return out.toString();
  }

  private StringBuilder tag(String tag, String... attributes) {
    out.append('<').append(tag);
    for (int i = 0; i < attributes.length; i += 2) {
      out.append(' ').append(attributes[i]).append("=\"");
      text(attributes[i + 1]);
      out.append('"');
    }
    return out;
  }

  private void escape(char c) {
    switch (c) {
      case '&' -> out.append("&amp;");
      case '<' -> out.append("&lt;");
      case '>' -> out.append("&gt;");
      case '"' -> out.append("&quot;");
      case '\'' -> out.append("&#39;");
      case '\t', '\n' -> out.append(c);
      // No other control character may be in XML, not even escaped.
      default -> out.append(c < ' ' ? '\uFFFD' : c);
    }
  }
}
