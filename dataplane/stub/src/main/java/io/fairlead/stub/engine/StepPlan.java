package io.fairlead.stub.engine;

/** What one step computes, and so how long it takes. */
final class StepPlan {

  private static final double NANOS_PER_MILLI = 1e6;

  private final EngineProfile profile;
  private int budget;
  private int prefillTokens;
  private double attended;
  private int decodes;
  private long context;

  StepPlan(EngineProfile profile) {
    this.profile = profile;
    budget = profile.maxBatchedTokens();
  }

  int budget() {
    return budget;
  }

  boolean isEmpty() {
    return budget == profile.maxBatchedTokens();
  }

  void decode(int contextTokens) {
    budget--;
    decodes++;
    context += contextTokens;
  }

  void prefill(int position, int chunk) {
    budget -= chunk;
    prefillTokens += chunk;
    attended += chunk * (position + chunk / 2.0);
  }

  /** At least 1, so that time always moves on. */
  long durationNanos() {
    double millis =
        Math.max(profile.d0(), profile.a() + profile.b() * prefillTokens)
            + profile.c() * attended
            + profile.d1() * decodes
            + profile.d2() * context;
    return Math.max(1, Math.round(millis * NANOS_PER_MILLI));
  }
}
