package io.fairlead.core.handover;

import java.util.List;

/**
 * What became of a picker's requests since it has told last.
 *
 * @param anew whether nothing counts any more that was told before: those in flight are told again
 * @param sent requests that were sent, by endpoint; some may be over
 * @param computed prompts that were, of requests that were told before
 * @param over requests that are, of those
 */
public record News(
    boolean anew, List<SentRequests> sent, List<Computed> computed, List<Over> over) {

  public News {
    sent = List.copyOf(sent);
    computed = List.copyOf(computed);
    over = List.copyOf(over);
  }

  /** Whether it says nothing. */
  public boolean isEmpty() {
    return !anew && sent.isEmpty() && computed.isEmpty() && over.isEmpty();
  }

  /**
   * A prompt is computed.
   *
   * @param number of its request, {@link SentRequest#number}
   * @param age nanoseconds that had passed when it was told
   */
  public record Computed(long number, long age) {}

  /**
   * A request is over at the endpoint.
   *
   * @param number {@link SentRequest#number}
   * @param end how it ended
   */
  public record Over(long number, End end) {}

  /**
   * How a request ended.
   *
   * @param age nanoseconds that had passed when it was told
   * @param answerTokens of its answers, which lie in the endpoint's cache behind its prompt; below
   *     0 where it left nothing there that another request could go on with
   */
  public record End(long age, int answerTokens) {}
}
