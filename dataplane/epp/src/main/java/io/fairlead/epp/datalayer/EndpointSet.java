package io.fairlead.epp.datalayer;

import io.fairlead.core.EndpointSpec;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All endpoints at one moment.
 *
 * @param ready endpoints that may get requests, unique by name
 * @param matching endpoints in all, ready or not; at least as many as {@code ready}
 * @param places where people find an endpoint, by its name, such as {@code default/vllm-0:8000};
 *     one that isn't listed is found by its name
 */
public record EndpointSet(List<EndpointSpec> ready, int matching, Map<String, String> places) {

  /** No endpoint at all. */
  public static final EndpointSet NONE = new EndpointSet(List.of(), 0);

  public EndpointSet {
    ready = List.copyOf(ready);
    places = Map.copyOf(places);
    if (matching < ready.size()) {
      throw new IllegalArgumentException(
          "matching is " + matching + ", expected at least " + ready.size());
    }
  }

  /** All are found by their names. */
  public EndpointSet(List<EndpointSpec> ready, int matching) {
    this(ready, matching, Map.of());
  }

  /** Where people find each endpoint that may get requests, by its name. */
  public Map<String, String> placesOfReady() {
    return ready.stream()
        .map(EndpointSpec::name)
        .collect(Collectors.toMap(name -> name, name -> places.getOrDefault(name, name)));
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
