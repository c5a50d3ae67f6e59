package io.fairlead.core.account;

import io.fairlead.core.prefix.BlockHasher;

/**
 * Bytes of text per token, and how far the guess at other parts is off, for one model: means of
 * what was reported, first of all of it, then of the last fifty or so. No report moves them by more
 * than a factor of two, and short prompts move them little, since there the server's template
 * outweighs the text.
 */
public final class ModelTokens {

  private static final double FEWEST_BYTES = 1;
  private static final double MOST_BYTES = 12;
  private static final double LEAST_FACTOR = 0.1;
  private static final double MOST_FACTOR = 10;

  private static final double LEARNING = 0.02;
  private static final double MOST_CHANGE = 2;

  /** Bytes of text, or tokens of other parts, from which on a prompt counts in full. */
  private static final double TELLING_BYTES = 2_048;

  private static final double TELLING_TOKENS = TELLING_BYTES / TokenEstimate.USUAL_BYTES;

  private double bytesPerToken = TokenEstimate.USUAL_BYTES;
  private double mediaFactor = 1;

  /** Reports so far; what is believed from the start counts as the first. */
  private double texts = 1;

  private double medias = 1;

  ModelTokens() {}

  /**
   * Length of a prompt in tokens.
   *
   * @param textBytes bytes of its text
   * @param mediaTokens what else is in it, as it is estimated for any model
   */
  public int tokens(long textBytes, int mediaTokens) {
    return (int) Math.min(exact(textBytes, mediaTokens), Integer.MAX_VALUE);
  }

  private double exact(long textBytes, int mediaTokens) {
    return textBytes / bytesPerToken + mediaTokens * mediaFactor;
  }

  /** Tokens that a block of the prefix index stands for, on average over this prompt. */
  public double blockTokens(long textBytes, int mediaTokens) {
    double bytes = textBytes + (double) mediaTokens * TokenEstimate.USUAL_BYTES;
    return bytes == 0
        ? blockTokens()
        : exact(textBytes, mediaTokens) / bytes * BlockHasher.BLOCK_BYTES;
  }

  /** Tokens of text that a block stands for. */
  double blockTokens() {
    return BlockHasher.BLOCK_BYTES / bytesPerToken;
  }

  void learn(long textBytes, int mediaTokens, int promptTokens) {
    if (mediaTokens > 0) {
      double found = (promptTokens - textBytes / bytesPerToken) / mediaTokens;
      double rate = rate(medias++, mediaTokens / TELLING_TOKENS);
      mediaFactor = Math.clamp(moved(mediaFactor, found, rate), LEAST_FACTOR, MOST_FACTOR);
    } else if (textBytes > 0) {
      double found = (double) textBytes / promptTokens;
      double rate = rate(texts++, textBytes / TELLING_BYTES);
      bytesPerToken = Math.clamp(moved(bytesPerToken, found, rate), FEWEST_BYTES, MOST_BYTES);
    }
  }

  /** What was learned, in numbers. */
  double[] tell() {
    return new double[] {bytesPerToken, mediaFactor, texts, medias};
  }

  /** Begins with what another has learned; passes over what makes no sense. */
  void take(double[] told) {
    if (told.length == 4
        && told[0] >= FEWEST_BYTES
        && told[0] <= MOST_BYTES
        && told[1] >= LEAST_FACTOR
        && told[1] <= MOST_FACTOR
        && told[2] >= 1
        && told[3] >= 1) {
      bytesPerToken = told[0];
      mediaFactor = told[1];
      texts = told[2];
      medias = told[3];
    }
  }

  private static double rate(double seen, double weight) {
    return Math.max(1.0 / (seen + 1), LEARNING) * Math.min(1, weight);
  }

  private static double moved(double mean, double found, double rate) {
    return mean + rate * (Math.clamp(found, mean / MOST_CHANGE, mean * MOST_CHANGE) - mean);
  }
}
