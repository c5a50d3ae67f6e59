package io.fairlead.lab.simulator;

/**
 * How those fared who asked for one model under one tenant's name.
 *
 * @param name the model and the tenant, as far as there are several
 * @param completed requests measured
 * @param meanMs mean time to the last token; NaN where none was completed
 * @param ttftP99Ms p99 of the time to the first token; NaN where none was completed
 */
public record Flow(String name, long completed, double meanMs, double ttftP99Ms) {}
