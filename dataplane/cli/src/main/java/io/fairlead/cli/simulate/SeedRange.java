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

  /** What is tuned is tuned on the seeds before it, and is to be judged on others. */
  private static final long FRESH = 6;

  private static final Pattern TEXT = Pattern.compile("([0-9]{1,9})(?:\\.\\.([0-9]{1,9}))?");

  /**
   * Reads a number of seeds from {@value #FRESH} on, or the first and the last of them, as in
   * {@code 6..10}.
   *
   * @throws IllegalArgumentException that says what is expected
   */
  static SeedRange parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (parts.matches()) {
      boolean both = parts.group(2) != null;
      long number = Long.parseLong(parts.group(1));
      long first = both ? number : FRESH;
      long last = both ? Long.parseLong(parts.group(2)) : FRESH + number - 1;
      if (first >= 1 && last >= first) {
        return new SeedRange(first, last);
      }
    }
    throw new IllegalArgumentException(
        "--seeds is " + text + "; set 1 or more, or a first and a last seed as in 6..10");
  }
}
