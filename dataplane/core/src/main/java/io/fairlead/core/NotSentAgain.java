package io.fairlead.core;

/** Why a request that an endpoint failed was not sent to another. */
public enum NotSentAgain {
  /** Its client has got some of the answer. */
  ANSWERED("its answer had begun"),
  /** Its body was not kept, or its frontend can't send it to another. */
  NOT_RESENDABLE("it can't be sent again: its body is not kept, or the gateway holds it"),
  /** It was sent as often as a request may be. */
  LIMIT("it was sent as often as a request may be"),
  /** Each endpoint that it may go to has failed it or is out, or none has room for it. */
  NOBODY_ELSE("no other endpoint could have it"),
  /** Two servers may have worked on it. */
  WORKED_ON("two servers may have worked on it already"),
  /**
   * So many of the pool's requests were sent again of late that more would be load of their own.
   */
  BUDGET("too many requests of the pool were sent again of late (requests.retryBudget)");

  private final String words;

  NotSentAgain(String words) {
    this.words = words;
  }

  /** To be read after "it was not sent again:". */
  public String words() {
    return words;
  }
}
