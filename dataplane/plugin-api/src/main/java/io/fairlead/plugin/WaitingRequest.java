package io.fairlead.plugin;

/** A request that waits for its turn. Times are in nanoseconds, as {@link InferenceRequest#now}. */
public interface WaitingRequest {

  /** A time that never comes. */
  long NEVER = Long.MAX_VALUE;

  /** When it began to wait. */
  long since();

  /** When it will have waited as long as it may; {@link #NEVER} where nothing bounds that. */
  long expiresAt();

  /** When its first token is to be there by its latency objective; {@link #NEVER} without one. */
  long firstTokenBy();

  /** Work that it is expected to be, in tokens: those of its prompt and those of its answer. */
  double work();

  /**
   * Whether it goes on with a conversation whose last request was served a while ago, a minute at
   * most: what that has left in a cache is worth less the longer this one waits.
   */
  default boolean goesOn() {
    return false;
  }

  /**
   * Grows with each request of the pool that begins to wait. One that was refused and came again
   * when it was told to has that of its first wait.
   */
  long sequence();
}
