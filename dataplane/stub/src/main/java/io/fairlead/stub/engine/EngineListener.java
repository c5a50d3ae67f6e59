package io.fairlead.stub.engine;

/**
 * Receives what an {@link Engine} does. Called from within {@link Engine#advance} and {@link
 * Engine#submit}; must not call the engine back. Times are the engine's own virtual nanoseconds and
 * never decrease.
 */
public interface EngineListener {

  /**
   * The first output token of a request is there; it is not told again by {@link #token}.
   *
   * @param cachedTokens prompt tokens that the block cache already held when the request was first
   *     admitted
   */
  void firstToken(long id, int cachedTokens, long time);

  /**
   * Another output token is there.
   *
   * @param n how many tokens the request has put out so far, this one included: 2 or more
   */
  void token(long id, int n, long time);

  /** The request has put out every token it asked for and holds nothing any more. */
  void finished(long id, long time);
}
