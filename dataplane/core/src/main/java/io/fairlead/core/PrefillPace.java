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

  private double taken = 1;
  private double guessed = 1;

  /** Absurd times in a row. */
  private int absurd;

  /** The prefill of so many uncached tokens took that long. */
  void learn(int uncached, long nanos) {
    double guess = PrefillLine.STEP_NANOS + PrefillLine.TOKEN_NANOS * Math.max(0, uncached);
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

  /** Nanoseconds that so many uncached tokens take, with the step that they are computed in. */
  long expected(long uncached) {
    return PrefillLine.expected(factor(), uncached);
  }

  /** Nanoseconds that they add to a step. */
  long tokens(long uncached) {
    return expected(uncached) - expected(0);
  }

  /** How much longer than the first guess prompts have proved to take. */
  double factor() {
    return Math.clamp(taken / guessed, 0.02, 100);
  }
}
