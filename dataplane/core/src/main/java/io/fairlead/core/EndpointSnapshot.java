package io.fairlead.core;

/**
 * An endpoint's state at one moment, for people and metrics.
 *
 * @param name endpoint
 * @param inFlight requests sent and not ended
 * @param awaitingFirstToken those without a first token
 * @param scrapedWaiting the server's own queue, 0 when unknown
 * @param kvUsage share of KV cache in use, NaN when unknown
 * @param sent requests sent to it since it came
 * @param matchedBlocks prompt blocks of those believed cached there when sent
 * @param promptBlocks prompt blocks of those in all
 * @param leaving no longer eligible, but still has requests in flight
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
    boolean leaving) {}
