package io.fairlead.stub.engine;

/** What can be told of an engine without running it. */
final class ClosedForm {

  private ClosedForm() {}

  /** Milliseconds to the first token of a request that is alone and fits into one step's budget. */
  static double prefillMillis(EngineProfile p, int prompt) {
    return Math.max(p.d0(), p.a() + p.b() * prompt) + p.c() * prompt * prompt / 2.0;
  }

  /**
   * Milliseconds that a request takes that is alone and whose prompt fits into one step's budget.
   */
  static double aloneMillis(EngineProfile p, int prompt, int output) {
    // Token j of 2..o is computed over prompt + j - 1 tokens.
    double contexts = (output - 1.0) * prompt + output * (output - 1.0) / 2;
    return prefillMillis(p, prompt)
        + (output - 1) * (Math.max(p.d0(), p.a()) + p.d1())
        + p.d2() * contexts;
  }
}
