package io.fairlead.epp.status;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.QueueSnapshot;
import java.util.List;
import java.util.Map;

/**
 * A pool at one moment, for people and metrics.
 *
 * @param endpoints all of them
 * @param queues who waits
 * @param latencies how soon endpoints answered lately, by name; of those alone that did
 */
public record PoolMoment(
    List<EndpointSnapshot> endpoints,
    QueueSnapshot queues,
    Map<String, EndpointLatency> latencies) {

  /** Where nothing is known, as of a pool whose loop has ended. */
  public static final PoolMoment NONE = new PoolMoment(List.of(), QueueSnapshot.EMPTY, Map.of());

  public PoolMoment {
    endpoints = List.copyOf(endpoints);
    latencies = Map.copyOf(latencies);
  }
}
