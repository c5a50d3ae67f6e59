package io.fairlead.core;

import io.fairlead.core.account.PrefillLine;

/**
 * How long the prompts of a pool take until their first token, learned from answers that are
 * streamed. A rough measure for bounds and for what can't be seen: the speed of single endpoints is
 * the cost model's business.
 */
final class PrefillPace {

  private static final double LEARNING = 0.02;

  /**
   * So many times what is expected is a stall or a compilation, and tells no pace, unless it goes
   * on: then servers are that slow. A stall is of one prompt at a server, since those behind it
   * count from its first token; several servers may compile at once.
   */
  private static final double ABSURD = 50;

  private static final int NO_STALLS = 20;

  /**
   * What a token takes to look at one before it, over what it takes itself. Of a forward pass that
   * is {@code 4 L d} operations over {@code 2 N} for so many layers of that width and parameters
   * (J. Kaplan et al., "Scaling Laws for Neural Language Models", 2020, table 1): 3e-5 for 8
   * billion of them and 2e-5 for 70 billion, and more where attention makes less of the hardware.
   */
  private static final double ATTENTION = 4e-5;

  private double taken = 1;
  private double guessed = 1;

  /** Absurd times in a row. */
  private int absurd;

  /**
   * The prefill of so many uncached tokens took that long.
   *
   * @param attention pairs of such a token and one before it
   */
  void learn(int uncached, double attention, long nanos) {
    double guess = guess(uncached, attention);
    double most = ABSURD * guess * factor();
    if (nanos < 0) {
      return;
    }
    absurd = nanos > most ? absurd + 1 : 0;
    if (absurd > 0 && absurd < NO_STALLS) {
      return;
    }
    // Sums before ratios: of prompts that share a step the first takes all of its time.
    taken += LEARNING * (Math.min((double) nanos, most) / PrefillLine.STEP_NANOS - taken);
    guessed += LEARNING * (guess / PrefillLine.STEP_NANOS - guessed);
  }

  private static double guess(long uncached, double attention) {
    return PrefillLine.STEP_NANOS
        + PrefillLine.TOKEN_NANOS * (Math.max(0, uncached) + ATTENTION * attention);
  }

  /**
   * Nanoseconds that so many uncached tokens take, with the step that they are computed in.
   *
   * @param attention pairs of such a token and one before it
   */
  long expected(long uncached, double attention) {
    return (long) (factor() * guess(uncached, attention));
  }

  /** Nanoseconds that they add to a step. */
  long tokens(long uncached, double attention) {
    return expected(uncached, attention) - expected(0, 0);
  }

  /** How much longer than the first guess prompts have proved to take. */
  double factor() {
    return Math.clamp(taken / guessed, 0.02, 100);
  }
}
