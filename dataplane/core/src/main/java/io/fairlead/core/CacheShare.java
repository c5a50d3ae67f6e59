package io.fairlead.core;

/**
 * What part of an engine's cache holds prompts that this picker has sent there: answers lie in it,
 * too, and what others have sent. So much of it is what the index of what was sent may believe to
 * be there. 1 for an engine that does not tell what it stores.
 */
final class CacheShare {

  /** As if so much of the cache had been filled by own prompts before. */
  private static final double ASSUMED = 0.1;

  private static final double LEAST = 0.05;

  private double sent;
  private double stored;

  /** Prompt tokens were sent that were not believed to be there. */
  void sent(double tokens) {
    sent += tokens;
  }

  /**
   * The engine has stored blocks.
   *
   * @param tokens of these
   * @param capacity of its whole cache, in tokens; 0 while unknown
   */
  void stored(long tokens, long capacity) {
    if (capacity == 0) {
      return;
    }
    if (stored == 0) {
      stored = ASSUMED * capacity;
      sent = stored; // what was sent before it told of anything does not count
    }
    stored += tokens;
    if (stored > capacity) {
      // What was stored a whole cache ago has been driven out since.
      stored /= 2;
      sent /= 2;
    }
  }

  /** The engine tells nothing any more. */
  void unknown() {
    sent = 0;
    stored = 0;
  }

  /** Share of the cache, above 0 and up to 1. */
  double share() {
    return stored == 0 ? 1 : Math.clamp(sent / stored, LEAST, 1);
  }
}
