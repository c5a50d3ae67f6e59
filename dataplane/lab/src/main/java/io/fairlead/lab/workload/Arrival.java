package io.fairlead.lab.workload;

/**
 * A request and when it comes.
 *
 * @param atNanos counted from the start of the run
 * @param request what is asked
 */
public record Arrival(long atNanos, RequestShape request) {}
