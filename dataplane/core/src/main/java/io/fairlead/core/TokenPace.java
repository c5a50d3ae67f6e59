package io.fairlead.core;

/**
 * How long a server takes for one more uncached token of a prompt: the slope of a line through the
 * prompts of late, by least squares with exponential weights. What a prompt takes however short it
 * is, a step that others are in for example, is no part of it.
 */
final class TokenPace {

  /** Weight of the latest prompt. */
  private static final double LATEST = 0.02;

  /**
   * What took so many times what the line says is a stall, and counts as no more: one of a minute
   * would make tokens look a hundred times as slow, and be forgotten after hundreds of prompts. A
   * server that did get slower is found prompt by prompt.
   */
  private static final double ABSURD = 3;

  /** Prompts after which the line says enough to tell a stall by. */
  private static final int ENOUGH = 50;

  private double meanTokens;
  private double meanNanos;
  private double variance;
  private double covariance;
  private int learned;

  /** The prefill of so many uncached tokens took that long. */
  void learn(int uncached, long nanos) {
    double tokens = uncached - meanTokens;
    double time = nanos - meanNanos;
    if (learned < ENOUGH) {
      learned++;
    } else {
      // What a prompt takes however short it is counts with any.
      double expected = meanNanos + nanos() * Math.max(0, tokens);
      time = Math.min(time, ABSURD * expected - meanNanos);
    }
    meanTokens += LATEST * tokens;
    meanNanos += LATEST * time;
    variance = (1 - LATEST) * (variance + LATEST * tokens * tokens);
    covariance = (1 - LATEST) * (covariance + LATEST * tokens * time);
  }

  /** Nanoseconds for a token; 0 as long as nothing tells. */
  double nanos() {
    return variance < 1 ? 0 : Math.max(0, covariance / variance);
  }
}
