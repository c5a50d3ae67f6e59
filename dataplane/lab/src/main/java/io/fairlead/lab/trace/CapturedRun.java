package io.fairlead.lab.trace;

import io.fairlead.core.PoolLimits;
import java.util.SortedMap;

/**
 * All that is known of what one process's core was told.
 *
 * @param limits of its core
 * @param share of requests that were captured
 * @param events by their number; the first was 1, and none was left out where no number is missing
 */
record CapturedRun(PoolLimits limits, double share, SortedMap<Long, CaptureEvent> events) {}
