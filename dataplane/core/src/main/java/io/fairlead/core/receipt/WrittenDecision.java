package io.fairlead.core.receipt;

/**
 * A decision that was written, until the request's {@link Receipt} has it.
 *
 * @param context number of what it has in common with others
 * @param at when it was made, in nanoseconds of the pool's clock
 * @param from where its words begin
 * @param runs how many of these tell of its runs
 * @param candidates how many
 * @param primary number of the run whose pick gets the request; -1 where nobody gets it
 * @param picked place in the pool of the endpoint that gets it
 * @param prefill the candidate that computes the prompt for it; -1 where it does that itself
 * @param expectedFirstToken milliseconds until the first token; NaN where no scorer expects any
 */
public record WrittenDecision(
    long context,
    long at,
    long from,
    int runs,
    int candidates,
    int primary,
    int picked,
    int prefill,
    double expectedFirstToken) {}
