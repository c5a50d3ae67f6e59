package io.fairlead.stub.engine;

/**
 * Receives what an {@link Engine} does. Called from within {@link Engine#advance} and whatever
 * moves time on; must not call the engine back. Times are the engine's own virtual nanoseconds and
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

  /** The request has put out every token it asked for and holds nothing any more. */
  void finished(long id, long time);

  /**
   * Whether {@link #token} is to be called; asked once, when the engine is made. Without it a step
   * costs no more for a large batch than for a small one.
   */
  default boolean everyToken() {
    return false;
  }

  /**
   * Another output token is there. Only told where {@link #everyToken} asks for it.
   *
   * @param n how many tokens the request has put out so far, this one included: 2 or more
   */
  default void token(long id, int n, long time) {}

  /** The request has joined the batch; told once, however often it is set back. */
  default void admitted(long id, long time) {}

  /** The request lost its blocks to an older one, and waits again. */
  default void preempted(long id, long time) {}

  /**
   * Whether {@link #stored}, {@link #removed} and {@link #cleared} are to be called; asked once,
   * when the engine is made.
   */
  default boolean everyBlock() {
    return false;
  }

  /**
   * Blocks of a request can be found by others from now on.
   *
   * @param from of its blocks the first
   * @param to the one after the last
   */
  default void stored(EngineRequest request, int from, int to) {}

  /** A block's content is lost. */
  default void removed(long identity) {}

  /** What every block holds is lost. */
  default void cleared() {}

  /**
   * A step has ended, and {@link Engine#published} is of its end.
   *
   * @param tokens what it put out: one for each output token, and with the first of a request the
   *     prompt tokens that were computed for it, in this step or before
   */
  default void stepped(int tokens, long time) {}
}
