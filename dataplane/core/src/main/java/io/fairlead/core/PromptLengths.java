package io.fairlead.core;

/**
 * How long prompts were that ended of late, as their servers counted them. What a prompt says of
 * itself is a guess, and a short body may claim much, as one that names many images does.
 */
final class PromptLengths {

  private static final int PER_DOUBLING = 4;

  /** So many count in full, and those before them half. */
  private static final int RECENT = 1_000;

  /** Share of them that may be longer than {@link #most}. */
  private static final double LONGER = 0.01;

  /** By the logarithm of their length. */
  private final int[] counts = new int[PER_DOUBLING * Integer.SIZE];

  private int all;
  private double most = Double.POSITIVE_INFINITY;

  /** A prompt had so many tokens, at least one. */
  void ended(int tokens) {
    counts[bucket(tokens)]++;
    if (++all == 2 * RECENT) {
      all = 0;
      for (int i = 0; i < counts.length; i++) {
        counts[i] /= 2;
        all += counts[i];
      }
    }
    most = longest();
  }

  private double longest() {
    int longer = 0;
    int at = counts.length - 1;
    while (longer + counts[at] <= LONGER * all) {
      longer += counts[at--];
    }
    return Math.pow(2, (at + 1.0) / PER_DOUBLING);
  }

  private static int bucket(int tokens) {
    return (int) (PER_DOUBLING * Math.log(tokens) / Math.log(2));
  }

  /** Tokens that hardly any had more than, a little above; infinity before any has ended. */
  double most() {
    return most;
  }
}
