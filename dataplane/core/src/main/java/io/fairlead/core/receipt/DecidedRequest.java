package io.fairlead.core.receipt;

import io.fairlead.core.Usage;
import io.fairlead.crds.config.Criticality;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A receipt as it was at one moment: what was decided of a request, from what, and what came of it.
 *
 * @param id as its client or the proxy before the picker calls it; one that has no name gets one
 * @param arrivedAt in nanoseconds of the pool's clock
 * @param model as asked for
 * @param targetModel as sent; empty before that
 * @param criticality that it counted with when it was sent
 * @param priority of its band; the larger, the more important
 * @param flow that it was charged to; empty where nobody ever waits
 * @param waited whether it waited for room
 * @param promptTokens as estimated
 * @param blocks of its prompt
 * @param maxOutputTokens the request's own limit, or -1
 * @param bodyBytes of its body
 * @param streamed whether its answer comes token by token
 * @param decisions one for each time that it was sent
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
    List<Decision> decisions,
    long firstTokenNanos,
    long tookNanos,
    String outcome,
    Usage usage) {

  public DecidedRequest {
    decisions = List.copyOf(decisions);
  }

  /** The decision that counts: the last one; null for a request that was never sent. */
  public @Nullable Decision last() {
    return decisions.isEmpty() ? null : decisions.getLast();
  }

  /** Name of the endpoint that got it last; empty if none did. */
  public String endpoint() {
    Decision last = last();
    return last == null ? "" : last.candidate(last.picked());
  }

  /** Nanoseconds from its arrival until it was sent first; -1 if it never was. */
  public long beforeSentNanos() {
    return decisions.isEmpty() ? -1 : decisions.getFirst().at() - arrivedAt;
  }

  /**
   * Milliseconds by which its first token came later than was expected when it was sent last;
   * negative for earlier, NaN where nothing was expected or seen.
   */
  public double firstTokenError() {
    Decision last = last();
    if (last == null || firstTokenNanos < 0 || !streamed) {
      return Double.NaN;
    }
    double took = (arrivedAt + firstTokenNanos - last.at()) / 1e6;
    return took - last.expectedFirstToken();
  }
}
