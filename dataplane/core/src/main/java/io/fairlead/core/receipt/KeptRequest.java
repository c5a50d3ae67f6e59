package io.fairlead.core.receipt;

import io.fairlead.core.NotSentAgain;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A receipt as it was at one moment, with all that its decisions were made from. Any thread may
 * read it.
 */
public final class KeptRequest {

  private final DecidedRequest request;
  private final List<KeptDecision> kept;
  private final List<@Nullable FailedAttempt> failed;
  private final int[] statuses;
  private final @Nullable NotSentAgain notSentAgain;
  private final List<KeptDecision> refused;

  /** A decision with a copy of its words. */
  @SuppressWarnings("ArrayRecordComponent") // handed over, not compared
  record KeptDecision(Sending sending, long[] words, List<Object> vocabulary) {}

  KeptRequest(
      DecidedRequest request,
      List<KeptDecision> kept,
      List<@Nullable FailedAttempt> failed,
      int[] statuses,
      @Nullable NotSentAgain notSentAgain,
      List<KeptDecision> refused) {
    this.request = request;
    this.kept = List.copyOf(kept);
    this.failed = Collections.unmodifiableList(failed);
    this.statuses = statuses;
    this.notSentAgain = notSentAgain;
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

  /** How the attempt of a decision failed, by its number from 0; null if it did not. */
  public @Nullable FailedAttempt failed(int decision) {
    return failed.get(decision);
  }

  /**
   * HTTP status of the answer to the attempt of a decision, by its number from 0; 0 where there was
   * no answer, a good one, or nobody saw it.
   */
  public int status(int decision) {
    return statuses[decision];
  }

  /** Why it was not sent again after its last attempt failed; null where that did not. */
  public @Nullable NotSentAgain notSentAgain() {
    return notSentAgain;
  }

  /**
   * Why nobody got it: when it began to wait, and when it was rejected. None where that is of no
   * endpoint. Made anew by each call.
   */
  public List<Decision> refusals() {
    return refused.stream().map(each -> DecisionReader.read(request, each)).toList();
  }
}
