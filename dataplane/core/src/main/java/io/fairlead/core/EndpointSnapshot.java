package io.fairlead.core;

/**
 * An endpoint's state at one moment, for people and metrics.
 *
 * @param name endpoint
 * @param inFlight requests that this picker has sent, and that have not ended
 * @param awaitingFirstToken those without a first token
 * @param scrapedWaiting the server's own queue, 0 when unknown
 * @param kvUsage share of KV cache in use, NaN when unknown
 * @param sent requests sent to it since it came
 * @param matchedBlocks prompt blocks of those believed cached there when sent
 * @param promptBlocks prompt blocks of those in all
 * @param leaving no longer eligible, but still has requests in flight
 * @param health how it is used, and why
 * @param scrapedAt when the last scrape was begun that is known of it, by the pool's clock; {@link
 *     Long#MIN_VALUE} when none is
 */
public record EndpointSnapshot(
    String name,
    int inFlight,
    int awaitingFirstToken,
    int scrapedWaiting,
    double kvUsage,
    long sent,
    long matchedBlocks,
    long promptBlocks,
    boolean leaving,
    Health health,
    long scrapedAt) {

  /**
   * How an endpoint is used.
   *
   * @param state whether it gets requests
   * @param reason why, to be read after its name; empty when there is nothing to say
   * @param since since when, by the pool's clock
   * @param failing how likely it fails its next request, 0 to 1
   */
  public record Health(HealthState state, String reason, long since, double failing) {}
}
