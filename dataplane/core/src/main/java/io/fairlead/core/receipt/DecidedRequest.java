package io.fairlead.core.receipt;

import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.Criticality;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A receipt in brief, as it was at one moment: what was decided of a request, and what came of it.
 *
 * @param id as its client or the proxy before the picker calls it; one that has no name gets one
 * @param arrivedAt in nanoseconds of the pool's clock
 * @param model as asked for
 * @param targetModel as sent, or as it would have been; empty where that is not known
 * @param criticality that it counted with when it was sent
 * @param priority of its band; the larger, the more important
 * @param flow that it was charged to; empty where nobody ever waits
 * @param waited whether it waited for room
 * @param promptTokens as estimated
 * @param blocks of its prompt
 * @param maxOutputTokens the request's own limit, or -1; 0 where no answer has tokens
 * @param bodyBytes of its body
 * @param streamed whether its answer comes token by token
 * @param attempts how often it was sent
 * @param endpoint name of the one that got it last; empty if none did
 * @param sentAt when it was sent first; meaningless where it never was
 * @param lastSentAt when it was sent last
 * @param expectedFirstToken milliseconds until the first token that were expected when it was sent
 *     last; NaN where nothing was
 * @param firstTokenNanos from its arrival to its first token; -1 where none was seen
 * @param tookNanos from its arrival to its end; -1 while it is open
 * @param outcome {@code open}, {@code completed}, or what ended it
 * @param usage as the server reported it
 */
public record DecidedRequest(
    String id,
    long arrivedAt,
    String model,
    String targetModel,
    Criticality criticality,
    long priority,
    String flow,
    boolean waited,
    int promptTokens,
    int blocks,
    int maxOutputTokens,
    long bodyBytes,
    boolean streamed,
    int attempts,
    String endpoint,
    long sentAt,
    long lastSentAt,
    double expectedFirstToken,
    long firstTokenNanos,
    long tookNanos,
    String outcome,
    Usage usage) {

  /** The outcome of one that is not over. */
  public static final String OPEN = "open";

  /** The outcome of one that nobody saw the end of. */
  public static final String PRESUMED_OVER = "left to the proxy";

  /** The outcome of one whose client gets the answer of an attempt that was given up. */
  public static final String ANSWERED_BY_FORMER = "answered by an earlier attempt";

  /** All outcomes that there are. */
  public static final SortedSet<String> OUTCOMES = outcomes();

  private static SortedSet<String> outcomes() {
    SortedSet<String> all = new TreeSet<>(List.of(OPEN, PRESUMED_OVER, ANSWERED_BY_FORMER));
    for (Outcome outcome : Outcome.values()) {
      all.add(outcome.code());
    }
    for (Reason reason : Reason.values()) {
      all.add(reason.code());
    }
    return Collections.unmodifiableSortedSet(all);
  }

  /** Nanoseconds from its arrival until it was sent first; -1 if it never was. */
  public long beforeSentNanos() {
    return attempts == 0 ? -1 : sentAt - arrivedAt;
  }

  /**
   * Milliseconds by which its first token came later than was expected when it was sent last;
   * negative for earlier, NaN where nothing was expected or seen.
   */
  public double firstTokenError() {
    if (attempts == 0 || firstTokenNanos < 0 || !streamed) {
      return Double.NaN;
    }
    return (arrivedAt + firstTokenNanos - lastSentAt) / 1e6 - expectedFirstToken;
  }
}
