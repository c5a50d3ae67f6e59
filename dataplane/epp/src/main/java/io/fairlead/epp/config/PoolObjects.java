package io.fairlead.epp.config;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.compile.Compilation;
import io.fairlead.crds.compile.Finding;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.compile.PoolMembers;
import io.fairlead.crds.compile.UpstreamObjects;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.InferencePoolSpec;
import io.fairlead.crds.v1.PoolSelector;
import io.fairlead.crds.v1.Port;
import java.util.List;
import java.util.Map;
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
  ConfigOffer offer(PoolName name, ConfigOffer scheduling, List<String> notes) {
    if (pool == null) {
      return unreadable(name, "does not exist; it is read as soon as it does");
    }
    Compilation compilation;
    try {
      compilation =
          PoolCompiler.compile(
              typed(name, pool), List.of(), null, new UpstreamObjects(objectives, rewrites));
    } catch (IllegalArgumentException e) {
      return unreadable(name, "can't be made sense of: " + e.getMessage());
    }
    PoolConfig config = compilation.config();
    if (config == null) {
      return unreadable(
          name,
          compilation.findings().stream()
              .filter(PoolObjects::isOfThePool)
              .filter(finding -> finding.severity() == Finding.Severity.REJECTS)
              .map(Finding::message)
              .collect(Collectors.joining("; ")));
    }
    compilation.findings().stream()
        .filter(finding -> !isOfThePool(finding))
        .forEach(finding -> notes.add(finding.object() + ": " + finding.message()));
    return scheduling.scheduling(config);
  }

  private static boolean isOfThePool(Finding finding) {
    return finding.object().kind().equals("InferencePool");
  }

  /** An offer of a pool that can't be run. */
  static ConfigOffer unreadable(PoolName name, String message) {
    return new ConfigOffer.Unreadable(
        name.toString(), ConfigMapSource.hash(message), name + ": " + message);
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
