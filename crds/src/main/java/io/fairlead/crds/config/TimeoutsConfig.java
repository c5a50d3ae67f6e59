package io.fairlead.crds.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Bounds in time on requests, each above zero and no longer than {@link #LONGEST}; null where
 * nothing is said.
 *
 * @param firstByte from being sent to the first byte of the answer
 * @param silence between two bytes of the answer
 * @param total from arrival to the end of the answer
 */
public record TimeoutsConfig(
    @Nullable Duration firstByte, @Nullable Duration silence, @Nullable Duration total) {

  /** Longer than any answer takes, and far from where nanoseconds overflow. */
  public static final Duration LONGEST = Duration.ofDays(365);

  /** Nothing is said. */
  public static final TimeoutsConfig UNSET = new TimeoutsConfig(null, null, null);
}
