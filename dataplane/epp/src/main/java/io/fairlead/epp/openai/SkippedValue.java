package io.fairlead.epp.openai;

/**
 * A JSON value that does not matter, while its bytes go by: a string, or a container with all that
 * is in it. Lenient: looks at no more than it takes to find the value's end.
 */
final class SkippedValue {

  /** Containers inside one another; 0 for a string that is in none. */
  private int depth;

  private boolean inString;
  private boolean escape;

  /**
   * Begins inside of a string.
   *
   * @param escaped whether its next byte is escaped
   */
  void beginString(boolean escaped) {
    depth = 0;
    inString = true;
    escape = escaped;
  }

  /** Begins inside of a container. */
  void beginContainer() {
    depth = 1;
    inString = false;
    escape = false;
  }

  /** Takes the next byte; whether it was the last of the value. */
  boolean next(byte b) {
    if (inString) {
      if (escape) {
        escape = false;
      } else if (b == '\\') {
        escape = true;
      } else if (b == '"') {
        inString = false;
        return depth == 0;
      }
      return false;
    }
    switch (b) {
      case '"' -> inString = true;
      case '{', '[' -> depth++;
      case '}', ']' -> {
        depth--;
        return depth == 0;
      }
      default -> {}
    }
    return false;
  }

  /** Where the next byte is that {@link #next} must be told of, or that ends a line. */
  int ahead(byte[] bytes, int from, int to) {
    if (!inString) {
      return JsonWords.structure(bytes, from, to);
    }
    return escape ? from : JsonWords.endOfText(bytes, from, to);
  }
}
