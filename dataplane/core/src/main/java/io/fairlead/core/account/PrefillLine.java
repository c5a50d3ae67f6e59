package io.fairlead.core.account;

/**
 * What prompts are to an endpoint: how long those in line may take, how many of them wait, and what
 * of one is cached. The same arithmetic for an endpoint as it is and for one as a receipt has it.
 */
public final class PrefillLine {

  /** What a prompt takes beside its tokens. */
  public static final double STEP_NANOS = 5e6;

  /** What an uncached token takes on hardware that is neither fast nor slow. */
  public static final double TOKEN_NANOS = 30e3;

  private static final double NO_QUEUE_NANOS = 1e9;

  private PrefillLine() {}

  /**
   * Nanoseconds that so many uncached tokens take.
   *
   * @param factor how much longer than the guess prompts have proved to take
   */
  public static long expected(double factor, long uncached) {
    return (long) (factor * (STEP_NANOS + TOKEN_NANOS * Math.max(0, uncached)));
  }

  /**
   * Requests that wait to be taken into a step. Prompts that are through within a second are no
   * queue: an engine takes many into one step. Of those beyond that, in proportion of their tokens,
   * all wait.
   *
   * @param said to wait in the endpoint's own queue
   * @param prefills prompts in line
   * @param expected nanoseconds that these may take
   */
  public static int waiting(int said, int prefills, long expected) {
    double backlog = (double) expected;
    int beyond = backlog <= NO_QUEUE_NANOS ? 0 : (int) (prefills * (1 - NO_QUEUE_NANOS / backlog));
    return Math.max(said, beyond);
  }

  /**
   * Tokens of a prompt that so many of its blocks are, less one if that is all of it: engines
   * always compute the last.
   */
  public static int cachedTokens(int promptTokens, int blocks, double blockTokens) {
    if (blocks == 0 || promptTokens == 0) {
      return 0;
    }
    return (int) Math.min(promptTokens - 1.0, blocks * blockTokens);
  }
}
