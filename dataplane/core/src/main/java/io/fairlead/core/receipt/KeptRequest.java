package io.fairlead.core.receipt;

import java.util.List;

/**
 * A receipt as it was at one moment, with all that its decisions were made from. Any thread may
 * read it.
 */
public final class KeptRequest {

  private final DecidedRequest request;
  private final List<KeptDecision> kept;

  /** A decision with a copy of its words. */
  @SuppressWarnings("ArrayRecordComponent") // handed over, not compared
  record KeptDecision(Sending sending, long[] words, List<Object> vocabulary) {}

  KeptRequest(DecidedRequest request, List<KeptDecision> kept) {
    this.request = request;
    this.kept = List.copyOf(kept);
  }

  /** What became of it. */
  public DecidedRequest request() {
    return request;
  }

  /** One for each time that it was sent. Made anew by each call. */
  public List<Decision> decisions() {
    return kept.stream().map(DecisionReader::read).toList();
  }
}
