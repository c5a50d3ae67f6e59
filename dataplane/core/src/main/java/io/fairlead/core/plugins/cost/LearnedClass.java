package io.fairlead.core.plugins.cost;

import java.util.Arrays;

/**
 * What the completions of all endpoints of a class have told of it: what an endpoint is taken for
 * as long as its own say nothing else.
 */
final class LearnedClass {

  /** By how much it changes before that is told: all costs are worked out again then. */
  private static final double NOTABLE = 0.02;

  /** Observations that the prior counts for: it may be wrong by far, as decode's may. */
  private static final double GUESS = 0.1;

  private static final double SLOWEST = 100;
  private static final double FASTEST = 0.01;

  private final EngineClass prior;
  private final TermFactors decode = new TermFactors(3);

  /** A step, what sequences add to it, and what their tokens do; in milliseconds, as assumed. */
  private final double[] terms = new double[3];

  /** Of the step that was observed last. */
  private double sequences;

  private double kv;
  private final PrefillSums prefills = new PrefillSums(GUESS);
  private final Spread decodeSpread = new Spread();
  private final Spread prefillSpread = new Spread();
  private EngineClass told;
  private double toldSlowness = 1;

  LearnedClass(EngineClass prior) {
    this.prior = prior;
    told = prior;
  }

  /** The class with its decode steps as they have proved to be. */
  EngineClass engine() {
    return told;
  }

  /** How much slower than its numbers it is at prefills, from 0.01 to 100. */
  double slowness() {
    return toldSlowness;
  }

  /** The same as of the last completion. */
  double slownessNow() {
    return Math.clamp(prefills.slowness(), FASTEST, SLOWEST);
  }

  /** Milliseconds that a decode step is expected to take, as of the last completion. */
  double decode(double sequences, double kv) {
    return decode.sum(terms(sequences, kv));
  }

  /** Forgets how far its endpoints differ. */
  void clearSpreads() {
    decodeSpread.clear();
    prefillSpread.clear();
  }

  /** By how much the logarithms of its endpoints' speeds at decoding differ. */
  Spread decodeSpread() {
    return decodeSpread;
  }

  /** The same at prefills. */
  Spread prefillSpread() {
    return prefillSpread;
  }

  /** A step took so many milliseconds, on average over an answer. */
  void decoded(double sequences, double kv, double millis) {
    this.sequences = sequences;
    this.kv = kv;
    decode.observe(terms(sequences, kv), millis);
  }

  /** A prefill took so long, and should have taken so long; milliseconds. */
  void prefilled(double taken, double expected) {
    prefills.add(taken, expected);
  }

  private double[] terms(double sequences, double kv) {
    terms[0] = prior.d0();
    terms[1] = prior.d1() * sequences;
    terms[2] = prior.d2() * kv;
    return terms;
  }

  /** Whether it is notably another than was told; tells it then. */
  boolean tells() {
    double slowness = slownessNow();
    // At the step that was observed last: factors that make up for one another are no change.
    double step = decode(sequences, kv);
    double toldStep = told.decode(sequences, kv);
    if (Math.abs(step - toldStep) < NOTABLE * toldStep
        && Math.abs(slowness - toldSlowness) < NOTABLE * toldSlowness) {
      return false;
    }
    toldSlowness = slowness;
    told =
        prior.decoding(
            prior.d0() * decode.factor(0),
            prior.d1() * decode.factor(1),
            prior.d2() * decode.factor(2));
    return true;
  }

  /** Numbers that {@link #tell} has: of decoding, of the last step, of prefills. */
  private static final int NUMBERS = 3 + 9 + 2 + 3;

  double[] tell() {
    double[] told = Arrays.copyOf(decode.tell(), NUMBERS);
    told[12] = sequences;
    told[13] = kv;
    System.arraycopy(prefills.tell(), 0, told, 14, 3);
    return told;
  }

  /** Begins with what another has learned; passes over what makes no sense. */
  void take(double[] told) {
    boolean sound = told.length == NUMBERS;
    for (int i = 0; sound && i < NUMBERS; i++) {
      // Covariances may be negative.
      boolean positive = i < 3 || i == 14 || i == 15;
      sound = Double.isFinite(told[i]) && (positive ? told[i] > 0 : i < 12 || told[i] >= 0);
    }
    if (sound) {
      decode.take(told);
      sequences = told[12];
      kv = told[13];
      prefills.take(told[14], told[15], told[16]);
    }
  }
}
