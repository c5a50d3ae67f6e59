package io.fairlead.core.receipt;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.scheduling.SchedulerOutline;
import io.fairlead.crds.config.PoolConfig;

/**
 * What decisions have in common until the config or the endpoints change.
 *
 * @param config what was in force
 * @param outline of its scheduler
 * @param pool the endpoints that there were, as they were labelled then
 * @param origin whether config and endpoints were what their sources say
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared
record DecisionContext(
    PoolConfig config, SchedulerOutline outline, EndpointSpec[] pool, Provenance origin) {}
