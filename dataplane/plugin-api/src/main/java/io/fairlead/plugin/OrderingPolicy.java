package io.fairlead.plugin;

/** Says in which order the waiting requests of one flow go. */
public non-sealed interface OrderingPolicy extends Plugin {

  /**
   * The request's rank, asked once, when it begins to wait: the smallest goes first, and of equal
   * ranks the one that came first.
   */
  long rank(WaitingRequest request);
}
