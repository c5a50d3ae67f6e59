package io.fairlead.core;

/**
 * A question that the shell shall put to an endpoint that gets no requests, to hear whether it
 * works again. No user's request: nobody waits for the answer.
 *
 * @param id to be given back with the answer, see {@link PoolCore#probed}
 * @param endpoint whom to ask
 * @param model target model of a completion of one token; empty to ask for {@code GET /health},
 *     because no model is known yet that the endpoint serves
 * @param timeoutNanos the answer's head must be there by then, counted from when it is asked
 */
public record Probe(long id, EndpointSpec endpoint, String model, long timeoutNanos) {}
