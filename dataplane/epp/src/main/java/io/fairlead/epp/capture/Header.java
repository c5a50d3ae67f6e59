package io.fairlead.epp.capture;

import io.fairlead.core.PoolLimits;
import java.time.Instant;

/**
 * What each file of state begins with.
 *
 * @param started wall-clock time at {@code origin}
 * @param origin the core's time that all others are counted from
 */
record Header(Instant started, long origin, CaptureConfig config, PoolLimits limits) {}
