package io.fairlead.cli.simulate;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The seeds of a comparison's runs.
 *
 * @param first from 1 up
 * @param last no less than {@code first}
 */
record SeedRange(long first, long last) {

  private static final Pattern TEXT = Pattern.compile("([0-9]{1,9})(?:\\.\\.([0-9]{1,9}))?");

  /**
   * Reads a number of seeds from 1 on, or the first and the last of them, as in {@code 6..10}.
   *
   * @throws IllegalArgumentException that says what is expected
   */
  static SeedRange parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (parts.matches()) {
      boolean both = parts.group(2) != null;
      long first = both ? Long.parseLong(parts.group(1)) : 1;
      long last = Long.parseLong(parts.group(both ? 2 : 1));
      if (first >= 1 && last >= first) {
        return new SeedRange(first, last);
      }
    }
    throw new IllegalArgumentException(
        "--seeds is " + text + "; set 1 or more, or a first and a last seed as in 6..10");
  }
}
