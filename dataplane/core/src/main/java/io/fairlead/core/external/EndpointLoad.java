package io.fairlead.core.external;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.HealthState;

/**
 * An endpoint as a scheduler outside of the process is told of it.
 *
 * @param identity {@link Advice#identity} of its name
 * @param spec who it is
 * @param health whether it is in use
 * @param waiting the server's own queue, as scraped; 0 when unknown
 * @param running requests that the server computes, as scraped; 0 when unknown
 * @param kvUsage share of its KV cache in use, 0 to 1; NaN when unknown
 * @param kvCapacityTokens size of its KV cache; 0 when unknown
 * @param inFlight requests sent to it by this picker that have not ended
 * @param awaitingFirstToken those of them without a first token
 * @param inFlightTokens prompt tokens of those in flight
 * @param uncachedInFlightTokens prompt tokens that are still to be computed
 */
public record EndpointLoad(
    long identity,
    EndpointSpec spec,
    HealthState health,
    int waiting,
    int running,
    double kvUsage,
    long kvCapacityTokens,
    int inFlight,
    int awaitingFirstToken,
    long inFlightTokens,
    long uncachedInFlightTokens) {}
