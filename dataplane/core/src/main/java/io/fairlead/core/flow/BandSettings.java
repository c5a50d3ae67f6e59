package io.fairlead.core.flow;

import io.fairlead.plugin.FairnessPolicy;
import io.fairlead.plugin.OrderingPolicy;

/**
 * How requests of one priority wait.
 *
 * @param ttl longest wait in nanoseconds; 0 for those that never wait
 * @param standingTtl longest wait in nanoseconds in a queue that stands, see {@link Band#stands};
 *     not above {@code ttl}
 * @param floor share of the work sent that is its own while it waits and more important bands go
 *     first: 0 for none, below 1
 * @param limits of the whole band
 * @param flowLimits of each of its flows
 * @param fairness says which flow goes next
 * @param ordering says which request of a flow does
 */
public record BandSettings(
    long ttl,
    long standingTtl,
    double floor,
    Limits limits,
    Limits flowLimits,
    FairnessPolicy fairness,
    OrderingPolicy ordering) {

  public BandSettings {
    if (ttl < 0) {
      throw new IllegalArgumentException("ttl is " + ttl + "; set 0 or more");
    }
    if (standingTtl < 0 || standingTtl > ttl) {
      throw new IllegalArgumentException("standingTtl is " + standingTtl + "; set 0 to " + ttl);
    }
    if (!(floor >= 0 && floor < 1)) {
      throw new IllegalArgumentException("floor is " + floor + "; set a share below 1");
    }
  }
}
