package io.fairlead.stub.engine;

import java.util.SplittableRandom;

/** What one step computes, and so how long it takes. Used again for every step. */
final class StepPlan {

  private static final double NANOS_PER_MILLI = 1e6;

  private final EngineProfile profile;
  private final Imperfection imperfection;
  private final SplittableRandom random;
  private int prefillTokens;
  private double attended;
  private int decodes;
  private long context;
  private int adapterLoads;

  StepPlan(EngineProfile profile, Imperfection imperfection, long seed) {
    this.profile = profile;
    this.imperfection = imperfection;
    random = new SplittableRandom(seed);
  }

  /** Begins a step that gives {@code decodes} sequences of {@code context} tokens one more. */
  void begin(int decodes, long context) {
    this.decodes = decodes;
    this.context = context;
    prefillTokens = 0;
    attended = 0;
    adapterLoads = 0;
  }

  void prefill(int position, int chunk) {
    prefillTokens += chunk;
    attended += chunk * (position + chunk / 2.0);
  }

  void loadAdapters(int count) {
    adapterLoads += count;
  }

  /** Tokens that may still be added. */
  int budget() {
    return profile.maxBatchedTokens() - tokens();
  }

  int tokens() {
    return decodes + prefillTokens;
  }

  boolean isEmpty() {
    return tokens() == 0 && adapterLoads == 0;
  }

  /** At least 1, so that time always moves on. To be asked for once: noise is drawn for it. */
  long durationNanos() {
    double millis = adapterLoads * profile.adapterLoadMillis();
    if (tokens() > 0) {
      millis += forwardMillis() * noise() + imperfection.hostMillis();
    }
    return Math.max(1, Math.round(millis * NANOS_PER_MILLI));
  }

  private double forwardMillis() {
    int batch = prefillTokens == 0 ? imperfection.batch(decodes) : decodes;
    return Math.max(profile.d0(), profile.a() + profile.b() * prefillTokens)
        + profile.c() * attended
        + profile.d1() * batch
        + profile.d2() * context;
  }

  private double noise() {
    return imperfection.kernelNoise() == 0 ? 1 : imperfection.factor(random.nextGaussian());
  }
}
