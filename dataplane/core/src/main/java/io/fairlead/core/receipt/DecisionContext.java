package io.fairlead.core.receipt;

import io.fairlead.core.scheduling.SchedulerOutline;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.plugin.Endpoint;

/**
 * What decisions have in common until the config or the endpoints change.
 *
 * @param config what was in force
 * @param outline of its scheduler
 * @param pool the endpoints that there were
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared
record DecisionContext(PoolConfig config, SchedulerOutline outline, Endpoint[] pool) {}
