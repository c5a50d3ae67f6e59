package io.fairlead.plugin;

/** Says in which order the waiting requests of one flow go. */
public non-sealed interface OrderingPolicy extends Plugin {

  /**
   * The request's rank, asked once, when it begins to wait: the smallest goes first, and of equal
   * ranks the one that came first.
   */
  long rank(WaitingRequest request);

  /**
   * Until when the request is worth serving: one that waits still then is refused. Asked when it
   * begins to wait, and again with another config.
   *
   * @return {@link WaitingRequest#NEVER} to have it wait as long as requests may
   */
  default long wantedUntil(WaitingRequest request) {
    return WaitingRequest.NEVER;
  }
}
