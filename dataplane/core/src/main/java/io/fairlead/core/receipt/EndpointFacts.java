package io.fairlead.core.receipt;

import io.fairlead.core.HealthState;

/**
 * What was known of a candidate when it was decided on.
 *
 * @param inFlight requests sent by this picker that had not ended
 * @param awaitingFirstToken those of them without a first token
 * @param scrapedWaiting requests in the server's own queue at the last scrape; 0 when unknown
 * @param scrapedRunning requests that ran there then
 * @param kvUsage share of its KV cache in use then; NaN when unknown
 * @param cachedTokens prompt tokens of the request that it was believed to hold
 * @param scrapedAt when that scrape was begun, by the pool's clock; {@link Long#MIN_VALUE} for none
 * @param health how it was used
 * @param failing how likely it was to fail the request, from 0 to 1
 * @param saturation how full it was, where 1 is full; NaN where nobody could say
 */
public record EndpointFacts(
    int inFlight,
    int awaitingFirstToken,
    int scrapedWaiting,
    int scrapedRunning,
    double kvUsage,
    int cachedTokens,
    long scrapedAt,
    HealthState health,
    double failing,
    double saturation) {}
