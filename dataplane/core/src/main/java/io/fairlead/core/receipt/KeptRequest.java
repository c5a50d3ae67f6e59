package io.fairlead.core.receipt;

import java.util.List;

/**
 * A receipt as it was at one moment, with all that its decisions were made from. Any thread may
 * read it.
 */
public final class KeptRequest {

  private final DecidedRequest request;
  private final List<KeptDecision> kept;
  private final List<KeptDecision> refused;

  /** A decision with a copy of its words. */
  @SuppressWarnings("ArrayRecordComponent") // handed over, not compared
  record KeptDecision(Sending sending, long[] words, List<Object> vocabulary) {}

  KeptRequest(DecidedRequest request, List<KeptDecision> kept, List<KeptDecision> refused) {
    this.request = request;
    this.kept = List.copyOf(kept);
    this.refused = List.copyOf(refused);
  }

  /** What became of it. */
  public DecidedRequest request() {
    return request;
  }

  /** One for each time that it was sent. Made anew by each call. */
  public List<Decision> decisions() {
    return kept.stream().map(each -> DecisionReader.read(request, each)).toList();
  }

  /**
   * Why nobody got it: when it began to wait, and when it was rejected. None where that is of no
   * endpoint. Made anew by each call.
   */
  public List<Decision> refusals() {
    return refused.stream().map(each -> DecisionReader.read(request, each)).toList();
  }
}
