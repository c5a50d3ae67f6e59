package io.fairlead.epp;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.epp.status.EndpointLatency;

/**
 * A row of the live table.
 *
 * @param state what the core knows
 * @param latency what clients saw lately
 */
public record EndpointView(EndpointSnapshot state, EndpointLatency latency) {}
