package io.fairlead.core.receipt;

import io.fairlead.core.Failure;

/**
 * How an endpoint failed a request.
 *
 * @param at when, in nanoseconds of the pool's clock
 */
public record FailedAttempt(Failure how, long at) {}
