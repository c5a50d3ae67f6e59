package io.fairlead.crds.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a model's requests wait where there is no room.
 *
 * @param weight share of the work that goes, relative to that of other models of its priority, from
 *     1 to {@value #MOST_WEIGHT}
 * @param ttl longest wait, above 0; it shortens that of its band and never lengthens it. Null for
 *     that of its band
 */
public record ModelQueueConfig(int weight, @Nullable Duration ttl) {

  /** Largest weight. */
  public static final int MOST_WEIGHT = 1_000;

  /** As much as others, and as long. */
  public static final ModelQueueConfig DEFAULT = new ModelQueueConfig(1, null);
}
