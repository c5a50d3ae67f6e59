package io.fairlead.epp.config;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.compile.Compilation;
import io.fairlead.crds.compile.Finding;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.InferencePoolSpec;
import io.fairlead.crds.v1.PoolSelector;
import io.fairlead.crds.v1.Port;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Upstream's objects of one pool at one moment.
 *
 * @param pool null where there is none
 * @param objectives of any pool
 * @param rewrites of any pool
 */
record PoolObjects(
    @Nullable GenericKubernetesResource pool,
    List<GenericKubernetesResource> objectives,
    List<GenericKubernetesResource> rewrites) {

  private static final JsonMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  /**
   * What the picker is to run.
   *
   * @param name of the pool
   * @param scheduling of which only the scheduling counts
   * @param notes gets a line for each thing that is not carried out
   */
  ConfigOffer offer(PoolName name, ConfigOffer.Document scheduling, List<String> notes) {
    if (pool == null) {
      return unreadable(name, "does not exist; it is read as soon as it does");
    }
    Compilation compilation;
    try {
      compilation = PoolCompiler.compile(typed(name, pool), List.of(), null);
    } catch (IllegalArgumentException e) {
      return unreadable(name, "can't be made sense of: " + e.getMessage());
    }
    PoolConfig config = compilation.config();
    if (config == null) {
      return unreadable(
          name,
          compilation.findings().stream()
              .filter(finding -> finding.severity() == Finding.Severity.REJECTS)
              .map(Finding::message)
              .collect(Collectors.joining("; ")));
    }
    return scheduling.scheduling(
        new PoolConfig(
            config.namespace(),
            config.name(),
            config.selector(),
            config.targetPorts(),
            config.appProtocol(),
            ModelRewrites.models(PoolMembers.of(rewrites, name), notes),
            objectives(name),
            config.requests(),
            config.scheduler()));
  }

  /** An offer of a pool that can't be run. */
  static ConfigOffer unreadable(PoolName name, String message) {
    return new ConfigOffer.Unreadable(
        name.toString(), ConfigMapSource.hash(message), name + ": " + message);
  }

  private List<ObjectiveConfig> objectives(PoolName name) {
    Map<String, ObjectiveConfig> all = new TreeMap<>();
    for (GenericKubernetesResource objective : PoolMembers.of(objectives, name)) {
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

  private static InferencePool typed(PoolName name, GenericKubernetesResource resource) {
    JsonNode spec = PoolMembers.spec(resource);
    InferencePool typed = new InferencePool();
    typed.setMetadata(resource.getMetadata());
    if (spec.isObject()) {
      typed.setSpec(
          name.settled()
              ? JSON.convertValue(spec, InferencePoolSpec.class)
              : JSON.convertValue(spec, OldSpec.class).settled());
    }
    return typed;
  }

  /** What a pool said before the kind was settled, as far as a picker needs it. */
  private record OldSpec(
      @Nullable Map<String, String> selector, @Nullable Integer targetPortNumber) {

    InferencePoolSpec settled() {
      return new InferencePoolSpec(
          new PoolSelector(selector == null ? Map.of() : selector),
          targetPortNumber == null ? List.of() : List.of(new Port(targetPortNumber)),
          null,
          null);
    }
  }
}
