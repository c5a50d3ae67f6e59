package io.fairlead.core;

/**
 * An endpoint is used otherwise.
 *
 * @param endpoint which
 * @param from how it was used
 * @param to how it is used now
 * @param reason why, to be read after the endpoint's name
 */
public record HealthChange(
    EndpointSpec endpoint, HealthState from, HealthState to, String reason) {}
