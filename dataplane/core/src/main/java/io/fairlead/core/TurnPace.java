package io.fairlead.core;

/**
 * How long a request waits at one endpoint before its prompt is computed, by Little's law: as long
 * as those before it take at the rate at which first tokens came there of late. Whatever holds all
 * of them up, work on prompts, room in the cache or seats in the batch, is in that rate.
 *
 * <p>What a request takes that found nobody in line is no wait: a far server may take a second for
 * each of a hundred at a time. So that is learned apart, and a rate is only believed of requests
 * that took longer: where nobody waits, first tokens come as requests do, and not as fast as they
 * could. Of one that found somebody in line, and took little more than alone, the wait is what it
 * took beyond; one that found nobody tells nothing of a line unless it took longer: else the quiet
 * hours would teach that a line takes no time. That the time without a queue tells congestion from
 * distance is from Brakmo and Peterson, "TCP Vegas", IEEE JSAC 13(8), 1995. Nobody is served faster
 * for having waited: what took clearly less than a request is believed to take alone counts,
 * whoever was before it. So one that came while the server compiled, or behind what others had
 * sent, hides no line for long.
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

  /** To have taken so much longer than alone is no wait yet. */
  private static final double NO_WAIT_NANOS = 50e6;

  /** Of what a request is believed to take that is alone. */
  private static final double MUCH_LESS = 0.25;

  /** The same: what one takes differs by so much from one to the next. */
  private static final double AS_ALONE = 1.25;

  /** The estimate of a median goes up or down by so much. */
  private static final double STEP = 1.1;

  private static final double LEAST = 0.02;
  private static final double MOST = 1_000;

  /** Over the guess: what a turn takes in a line, and what a request takes that is alone. */
  private double factor = 1;

  private double alone = 1;

  private boolean knowsAlone;
  private double taken;
  private double guessed;
  private int turns;

  /**
   * A request had its first token.
   *
   * @param turn nanoseconds since the one before it had its own, or since it was sent
   * @param whole nanoseconds since it was sent
   * @param first whether it found nobody in line
   */
  void firstToken(int uncached, long turn, long whole, boolean first) {
    double guess = guess(1, uncached);
    boolean waited = whole > alone * guess + NO_WAIT_NANOS;
    if (waited || !first) {
      double beyond = waited ? turn : whole - AS_ALONE * alone * guess;
      taken += Math.max(0, Math.min((double) turn, beyond));
      guessed += guess;
      turns++;
    }
    if (taken >= WHILE_NANOS || turns >= MANY) {
      factor = moved(factor, taken > factor * guessed);
      taken = 0;
      guessed = 0;
      turns = 0;
    }
    if (first && !knowsAlone) {
      alone = bounded(whole / guess);
      knowsAlone = true;
    } else if (whole < MUCH_LESS * alone * guess) {
      alone = bounded(alone / 2);
    } else if (first) {
      alone = moved(alone, whole > alone * guess);
    }
  }

  private static double moved(double median, boolean up) {
    return bounded(up ? median * STEP : median / STEP);
  }

  private static double bounded(double factor) {
    return Math.clamp(factor, LEAST, MOST);
  }

  /**
   * Nanoseconds until so many requests with so many uncached tokens have had their first tokens,
   * beyond what one of them takes alone.
   */
  long expected(int requests, long uncached) {
    double all = factor * guess(requests, uncached);
    return (long) Math.max(0, all - alone(uncached / requests));
  }

  /** Nanoseconds that a request takes that is alone. */
  double alone(long uncached) {
    return alone * guess(1, uncached);
  }

  private static double guess(int requests, long uncached) {
    return requests * STEP_NANOS + TOKEN_NANOS * Math.max(0, uncached);
  }
}
