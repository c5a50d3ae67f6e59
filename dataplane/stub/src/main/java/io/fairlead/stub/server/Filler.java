package io.fairlead.stub.server;

/**
 * The words that stand for a model's answer: one a token, four bytes each, the same at every run.
 */
final class Filler {

  private static final String[] WORDS = {
    "the ", "sea ", "ran ", "out ", "and ", "the ", "tow ", "led ", "all ", "oar ", "men ", "may ",
    "row ", "now ", "for ", "bow ", "and ", "lee ", "but ", "fog ", "hid ", "the ", "bay "
  };

  private Filler() {}

  /** The word of output token {@code n}, counted from 1. */
  static String word(int n) {
    return WORDS[(n - 1) % WORDS.length];
  }

  /** The first {@code n} words. */
  static String text(int n) {
    StringBuilder text = new StringBuilder(n * BlockHasher.BYTES_PER_TOKEN);
    for (int i = 1; i <= n; i++) {
      text.append(word(i));
    }
    return text.toString();
  }
}
