package io.fairlead.plugin;

/**
 * Says how full an endpoint is. Asked when the endpoint's account or what was scraped of it
 * changes, and some ten times a second: not for each request.
 */
public non-sealed interface SaturationDetector extends Plugin {

  /**
   * 0 is idle, 1 and above is full: where all endpoints are that a request may go to, it waits or
   * is refused. Never negative or NaN.
   */
  double saturation(Endpoint endpoint);

  /**
   * What a full endpoint has too much of, or too little, for people who ask why a request went
   * elsewhere or nowhere: a constant, such as {@code KV cache}; empty where there is but one limit.
   */
  default String limit(Endpoint endpoint) {
    return "";
  }

  /**
   * Whether a full endpoint takes no request that may wait, also while others have room. Unless it
   * does, the scheduler weighs a wait there against what is gained by it, a cached prompt say.
   */
  default boolean isLimit() {
    return false;
  }

  /**
   * Whether requests that begin a conversation wait where the contexts of others, which are used or
   * will be soon, leave no room in the KV cache. Those that go on with one don't.
   */
  default boolean keepsContexts() {
    return false;
  }
}
