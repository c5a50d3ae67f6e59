package io.fairlead.crds.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a model's requests ask for that don't say so themselves.
 *
 * @param firstToken from the arrival to the first token, above 0; null for any time
 * @param eachToken from each token to the next, above 0; null for any pace
 */
public record LatencyConfig(@Nullable Duration firstToken, @Nullable Duration eachToken) {

  /** Nothing is asked for. */
  public static final LatencyConfig UNSET = new LatencyConfig(null, null);
}
