package io.fairlead.crds.compile;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.v1.InferencePool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Objects of upstream's kinds beside the pool's own, read as they are: whatever their CRDs let in.
 *
 * @param objectives InferenceObjectives of any pool
 * @param rewrites InferenceModelRewrites of any pool
 */
public record UpstreamObjects(
    List<GenericKubernetesResource> objectives, List<GenericKubernetesResource> rewrites) {

  /** Of a cluster that has none of these kinds. */
  public static final UpstreamObjects NONE = new UpstreamObjects(List.of(), List.of());

  public UpstreamObjects {
    objectives = List.copyOf(objectives);
    rewrites = List.copyOf(rewrites);
  }

  /** Objectives and rewrites. */
  public Stream<GenericKubernetesResource> all() {
    return Stream.concat(objectives.stream(), rewrites.stream());
  }

  /** Sorted by name. */
  List<ObjectiveConfig> objectives(InferencePool pool) {
    Map<String, ObjectiveConfig> all = new TreeMap<>();
    for (GenericKubernetesResource objective : PoolMembers.of(objectives, pool)) {
      String own = objective.getMetadata().getName();
      all.put(own, new ObjectiveConfig(own, priority(PoolMembers.spec(objective))));
    }
    return new ArrayList<>(all.values());
  }

  /** Any whole number can be stored; what is beyond a long is as good as its end. */
  private static long priority(JsonNode spec) {
    JsonNode priority = spec.path("priority");
    if (!priority.isIntegralNumber()) {
      return 0;
    }
    return priority.canConvertToLong()
        ? priority.asLong()
        : priority.decimalValue().signum() < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
  }
}
