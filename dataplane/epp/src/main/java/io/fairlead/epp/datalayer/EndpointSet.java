package io.fairlead.epp.datalayer;

import io.fairlead.core.EndpointSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All endpoints at one moment.
 *
 * @param ready endpoints that may get requests, unique by name
 * @param matching endpoints in all, ready or not; at least as many as {@code ready}
 */
public record EndpointSet(List<EndpointSpec> ready, int matching) {

  /** No endpoint at all. */
  public static final EndpointSet NONE = new EndpointSet(List.of(), 0);

  public EndpointSet {
    ready = List.copyOf(ready);
    if (matching < ready.size()) {
      throw new IllegalArgumentException(
          "matching is " + matching + ", expected at least " + ready.size());
    }
  }

  /**
   * Why nothing can be sent, in the words of the pool's {@code EndpointsAvailable}; null if not.
   */
  public @Nullable String reason() {
    if (!ready.isEmpty()) {
      return null;
    }
    return matching == 0 ? "NoMatchingPods" : "NoReadyPods";
  }
}
