package io.fairlead.core.shadow;

/**
 * How a shadow has done since it began, beside what was really done.
 *
 * @param requests that it was asked about and that are not left out, at least as many as {@code
 *     agreed} and {@code notPlaced}
 * @param agreed of those, sent to the endpoint that it chose
 * @param notPlaced of those, it had no endpoint for
 * @param leftOut requests that are not among these, as too much is imagined to be under way
 * @param active requests of its imagined account that are not over
 * @param promptTokens of the requests that it placed
 * @param own what came of its choices, as far as can be imagined
 * @param real what came of the real choices for the same requests, by the same means
 */
public record ShadowSnapshot(
    long requests,
    long agreed,
    long notPlaced,
    long leftOut,
    int active,
    long promptTokens,
    Choices own,
    Choices real) {

  /** Before the first request. */
  public static final ShadowSnapshot EMPTY =
      new ShadowSnapshot(0, 0, 0, 0, 0, 0, Choices.NONE, Choices.NONE);

  /**
   * Choices of one of the two.
   *
   * @param cachedTokens of all prompts, believed to be cached where they were sent
   * @param firstTokenSeconds sum over all requests of the time to the first token, as it is
   *     expected from the tokens before it: those in line at the endpoint, and its own that aren't
   *     cached
   * @param spread most requests in flight at one endpoint, as a multiple of the mean: 1 is even;
   *     over all that time, moments with more in flight counting more. 0 before the first request
   */
  public record Choices(long cachedTokens, double firstTokenSeconds, double spread) {

    /** No choice. */
    public static final Choices NONE = new Choices(0, 0, 0);
  }

  /** Requests for which it chose another endpoint. */
  public long differed() {
    return requests - agreed - notPlaced;
  }
}
