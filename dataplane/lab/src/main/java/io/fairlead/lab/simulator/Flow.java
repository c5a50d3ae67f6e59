package io.fairlead.lab.simulator;

/**
 * How those fared who asked for one model under one tenant's name.
 *
 * @param name the model and the tenant, as far as there are several
 * @param arrived requests measured
 * @param completed those answered in full
 * @param rejected those that the policy turned away
 * @param good those completed within the objective of the run
 * @param meanMs mean time to the last token; NaN where none was completed
 * @param ttftP99Ms p99 of the time to the first token; NaN where none was completed
 */
public record Flow(
    String name,
    long arrived,
    long completed,
    long rejected,
    long good,
    double meanMs,
    double ttftP99Ms) {}
