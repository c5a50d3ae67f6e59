package io.fairlead.lab.simulator;

/**
 * A run, and how well its pickers knew what engines held.
 *
 * @param result what it has shown
 * @param beliefs of the requests that were measured
 */
public record BelievedRun(RunResult result, Beliefs beliefs) {

  /**
   * What pickers believed to be cached where they sent requests, beside what the engines then
   * found.
   *
   * @param requests completed and measured
   * @param promptTokens of them
   * @param believed tokens that were believed to be cached
   * @param cached tokens that were
   * @param tooMany tokens that were believed to be cached and were not
   * @param tooFew tokens that were cached and were not believed to be
   * @param meanShareError mean over requests of the error as a share of the prompt
   */
  public record Beliefs(
      long requests,
      long promptTokens,
      long believed,
      long cached,
      long tooMany,
      long tooFew,
      double meanShareError) {}
}
