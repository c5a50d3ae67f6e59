package io.fairlead.cli;

/**
 * Text of others, such as names that clients and objects have, as it may stand on a terminal: what
 * would move the cursor, change colours or the direction of writing is written out like {@code
 * \\u001b}.
 */
public final class ShownText {

  private ShownText() {}

  /** As one line: a line break is written out, too. */
  public static String line(String text) {
    return shown(text, false);
  }

  /** As lines, which may be indented by tabs. */
  public static String lines(String text) {
    return shown(text, true);
  }

  private static String shown(String text, boolean lines) {
    if (text.codePoints().noneMatch(c -> isHidden(c) && !(lines && isLayout(c)))) {
      return text;
    }
    StringBuilder shown = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              if (!isHidden(c) || (lines && isLayout(c))) {
                shown.appendCodePoint(c);
              } else if (c == '\n') {
                shown.append("\\n");
              } else {
                for (char unit : Character.toChars(c)) { // as JSON writes what has two
                  shown.append(String.format("\\u%04x", (int) unit));
                }
              }
            });
    return shown.toString();
  }

  private static boolean isLayout(int c) {
    return c == '\n' || c == '\t';
  }

  private static boolean isHidden(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }
}
