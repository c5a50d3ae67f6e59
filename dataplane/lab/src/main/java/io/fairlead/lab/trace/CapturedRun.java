package io.fairlead.lab.trace;

import io.fairlead.core.PoolLimits;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * All that is known of what one process's core was told.
 *
 * @param limits of its core
 * @param share of requests that were captured
 * @param events by their number; the first was 1, and none was left out where no number is missing
 */
record CapturedRun(PoolLimits limits, double share, SortedMap<Long, CaptureEvent> events) {

  /** Probes that nobody was asked: the core hears so while it still wants them. */
  Set<Long> unasked() {
    return events.values().stream()
        .filter(CaptureEvent.Unasked.class::isInstance)
        .map(event -> ((CaptureEvent.Unasked) event).probe())
        .collect(Collectors.toUnmodifiableSet());
  }
}
