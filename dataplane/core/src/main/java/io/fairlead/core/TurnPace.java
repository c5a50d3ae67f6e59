package io.fairlead.core;

/**
 * How long a request waits at one endpoint for its first token, by Little's law: as long as those
 * before it take at the rate at which first tokens came there of late. Whatever holds all of them
 * up, work on prompts, room in the cache or seats in the batch, is in that rate.
 *
 * <p>Prompts count by their length. Sums are taken before the ratio, over as many turns as take a
 * while, since of prompts that share a step the first has all of its time; and of the ratios it is
 * the median that counts, which a few stalls don't move.
 */
final class TurnPace {

  private static final double STEP_NANOS = 5e6;
  private static final double TOKEN_NANOS = 30e3;

  /** Turns are taken together that take so long, or are so many. */
  private static final double WHILE_NANOS = 50e6;

  private static final int MANY = 16;

  /** The estimate of the median goes up or down by so much. */
  private static final double STEP = 1.1;

  private static final double LEAST = 0.02;
  private static final double MOST = 1_000;

  private double factor = 1;
  private double taken;
  private double guessed;
  private int turns;

  /** The first in line had its first token, that long after its turn began. */
  void turn(int uncached, long nanos) {
    taken += Math.max(0, nanos);
    guessed += guess(1, uncached);
    turns++;
    if (taken >= WHILE_NANOS || turns >= MANY) {
      factor = Math.clamp(taken > factor * guessed ? factor * STEP : factor / STEP, LEAST, MOST);
      taken = 0;
      guessed = 0;
      turns = 0;
    }
  }

  /** Nanoseconds that so many requests with so many uncached tokens take. */
  long expected(int requests, long uncached) {
    return (long) (factor * guess(requests, uncached));
  }

  private static double guess(int requests, long uncached) {
    return requests * STEP_NANOS + TOKEN_NANOS * Math.max(0, uncached);
  }
}
