package io.fairlead.core.plugins;

import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What completed requests have told of the endpoints: how fast each is beside its class, how far
 * the prefix index can be believed of it, and how long answers are.
 */
final class LearnedSpeeds {

  private static final double NANOS = 1e-6;
  private static final double LEARNING = 0.03;

  /** Of the speed of an endpoint, which is a constant of its hardware: noise would unbalance. */
  private static final double SPEED_LEARNING = 0.003;

  private static final double OUTPUT_LEARNING = 0.02;
  private static final double FIRST_OUTPUT = 200;
  private static final double SLOWEST = 10;
  private static final double FASTEST = 0.1;

  /** An observation this far off is none: a response that came in one piece, or a stall. */
  private static final double ABSURD = 20;

  /** Events of a stream that carry no token: the one with the role, and the end. */
  private static final int EVENTS_AROUND = 2;

  private static final int TOO_SHORT_TO_TELL = 8;

  private final EngineClasses known;
  private double expectedOutput = FIRST_OUTPUT;

  /** By slot. */
  private @Nullable EngineClass[] classes = {};

  private double[] phi = {};
  private double[] psi = {};

  /** By slot: running means of what prefills took, and of what they should have. */
  private double[] prefillTaken = {};

  private double[] prefillExpected = {};

  /** By slot: how many requests have told. */
  private int[] prefillsSeen = {};

  private int[] decodesSeen = {};
  private double[] trust = {};

  LearnedSpeeds(EngineClasses known) {
    this.known = known;
  }

  /** Forgets what was learned of the endpoint that had this slot before. */
  void joined(Endpoint endpoint) {
    int slot = endpoint.slot();
    if (slot >= classes.length) {
      int length = Math.max(16, slot * 2);
      classes = Arrays.copyOf(classes, length);
      phi = Arrays.copyOf(phi, length);
      psi = Arrays.copyOf(psi, length);
      prefillTaken = Arrays.copyOf(prefillTaken, length);
      prefillExpected = Arrays.copyOf(prefillExpected, length);
      prefillsSeen = Arrays.copyOf(prefillsSeen, length);
      decodesSeen = Arrays.copyOf(decodesSeen, length);
      trust = Arrays.copyOf(trust, length);
    }
    classes[slot] = known.of(endpoint);
    phi[slot] = 1;
    psi[slot] = 1;
    prefillTaken[slot] = 0;
    prefillExpected[slot] = 0;
    prefillsSeen[slot] = 0;
    decodesSeen[slot] = 0;
    trust[slot] = 1;
  }

  /** The endpoint's class. */
  EngineClass engine(Endpoint endpoint) {
    int slot = endpoint.slot();
    EngineClass there = slot < classes.length ? classes[slot] : null;
    if (there == null) {
      joined(endpoint);
      there = known.of(endpoint);
    }
    return there;
  }

  /** How much slower than its class the endpoint in this slot has proved to be at decoding. */
  double phi(int slot) {
    return phi[slot];
  }

  /** How much slower than its class the endpoint in this slot has proved to be at prefills. */
  double psi(int slot) {
    return psi[slot];
  }

  /** Share of the tokens held, by the prefix index, that the endpoint in this slot really holds. */
  double trust(int slot) {
    return trust[slot];
  }

  /** Output tokens of a request. */
  double expectedOutput() {
    return expectedOutput;
  }

  /** Learns from a request that is over. */
  void completed(Completion completion) {
    EngineClass engine = engine(completion.endpoint());
    int slot = completion.endpoint().slot();
    if (completion.cachedTokens() >= 0
        && completion.promptTokens() > 0
        && completion.expectedCachedTokens() > 0
        && !completion.prefilledElsewhere()) {
      // Shares, since the server counts in tokens of its own and the estimate goes by bytes.
      double expected =
          (double) completion.expectedCachedTokens() / completion.estimatedPromptTokens();
      double found = (double) completion.cachedTokens() / completion.promptTokens();
      trust[slot] += LEARNING * (Math.min(1, found / expected) - trust[slot]);
    }
    learnPrefill(completion, engine, slot);
    learnDecode(completion, engine, slot);
  }

  /**
   * Sums before ratios: of prefills that were done in one step, the first takes all of the time and
   * the others none.
   */
  private void learnPrefill(Completion completion, EngineClass engine, int slot) {
    double prompt = completion.estimatedPromptTokens();
    if (completion.prefillTime() < 0 || completion.prefilledElsewhere() || prompt <= 0) {
      return;
    }
    double cached =
        completion.cachedTokens() >= 0 && completion.promptTokens() > 0
            ? prompt * completion.cachedTokens() / completion.promptTokens()
            : completion.expectedCachedTokens() * trust[slot];
    double uncached = Math.max(0, prompt - cached);
    double batch = completion.meanDecoding();
    double kv = completion.meanInFlightTokens() + batch * expectedOutput / 2;
    double expected =
        engine.prefill(1, uncached, uncached * (cached + uncached / 2))
            * engine.interference(batch, kv);
    double taken = completion.prefillTime() * NANOS;
    if (batch > 1 && completion.prefillTime() == completion.timeToFirstToken()) {
      // It came into the middle of a step.
      taken = Math.max(0, taken - phi[slot] * engine.decode(batch, kv) / 2);
    }
    if (taken > ABSURD * expected) {
      return;
    }
    if (prefillsSeen[slot] == 0) {
      prefillExpected[slot] = expected;
      prefillTaken[slot] = expected;
    }
    double rate = rate(++prefillsSeen[slot]);
    prefillExpected[slot] += rate * (expected - prefillExpected[slot]);
    prefillTaken[slot] += rate * (taken - prefillTaken[slot]);
    psi[slot] = Math.clamp(prefillTaken[slot] / prefillExpected[slot], FASTEST, SLOWEST);
  }

  private void learnDecode(Completion completion, EngineClass engine, int slot) {
    int output = completion.outputTokens();
    if (output < 0) {
      output = completion.streamedEvents() - EVENTS_AROUND;
    }
    if (output < 1 || !completion.succeeded()) {
      return;
    }
    expectedOutput += OUTPUT_LEARNING * (output - expectedOutput);
    if (output < TOO_SHORT_TO_TELL || completion.decodeTime() <= 0) {
      return;
    }
    double batch = completion.meanDecoding();
    double kv = completion.meanInFlightTokens() + batch * expectedOutput / 2;
    double observed = completion.decodeTime() * NANOS / (output - 1);
    double ratio = observed / engine.decode(batch, kv);
    if (ratio >= 1 / ABSURD && ratio <= ABSURD) {
      double rate = rate(++decodesSeen[slot]);
      phi[slot] = Math.clamp(phi[slot] + rate * (ratio - phi[slot]), FASTEST, SLOWEST);
    }
  }

  /** A mean of all that were seen, with the guess as one of them, until there are many. */
  private static double rate(int seen) {
    return Math.max(1.0 / (seen + 1), SPEED_LEARNING);
  }
}
