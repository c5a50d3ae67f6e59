package io.fairlead.crds.config;

import java.util.List;
import java.util.Map;

/**
 * What one endpoint picker runs: a pool, the models accepted on it and how requests are scheduled.
 *
 * <p>The operator generates it from resources, the data plane reads it hot. Two equal documents
 * have equal canonical bytes and so the same content hash.
 *
 * @param namespace namespace of the pool
 * @param name name of the pool
 * @param selector labels that a pod must carry to be an endpoint; never empty on Kubernetes
 * @param targetPorts ports of every pod, each an endpoint of its own; 1 to 8, unique
 * @param appProtocol {@code http} or {@code kubernetes.io/h2c}
 * @param models accepted models, unique by name, sorted by name
 * @param objectives what requests may name as their objective, unique by name, sorted by name
 * @param requests how requests are treated
 * @param scheduler plugins and profiles
 * @param shadows schedulings that are tried beside it, unique by name
 */
public record PoolConfig(
    String namespace,
    String name,
    Map<String, String> selector,
    List<Integer> targetPorts,
    String appProtocol,
    List<ModelConfig> models,
    List<ObjectiveConfig> objectives,
    RequestsConfig requests,
    SchedulerConfig scheduler,
    List<ShadowConfig> shadows) {

  public PoolConfig {
    selector = Map.copyOf(selector);
    targetPorts = List.copyOf(targetPorts);
    models = List.copyOf(models);
    objectives = List.copyOf(objectives);
    shadows = List.copyOf(shadows);
  }

  /** A pool without shadows. */
  public PoolConfig(
      String namespace,
      String name,
      Map<String, String> selector,
      List<Integer> targetPorts,
      String appProtocol,
      List<ModelConfig> models,
      List<ObjectiveConfig> objectives,
      RequestsConfig requests,
      SchedulerConfig scheduler) {
    this(
        namespace,
        name,
        selector,
        targetPorts,
        appProtocol,
        models,
        objectives,
        requests,
        scheduler,
        List.of());
  }

  /** The same pool with other schedulings beside it. */
  public PoolConfig withShadows(List<ShadowConfig> others) {
    return with(models, objectives, scheduler, others);
  }

  /** The same pool, scheduled as the other is. */
  public PoolConfig scheduledAs(PoolConfig other) {
    return with(models, objectives, other.scheduler, other.shadows);
  }

  /** The same pool with other models and objectives. */
  public PoolConfig withMembers(List<ModelConfig> otherModels, List<ObjectiveConfig> others) {
    return with(otherModels, others, scheduler, shadows);
  }

  private PoolConfig with(
      List<ModelConfig> otherModels,
      List<ObjectiveConfig> otherObjectives,
      SchedulerConfig otherScheduler,
      List<ShadowConfig> otherShadows) {
    return new PoolConfig(
        namespace,
        name,
        selector,
        targetPorts,
        appProtocol,
        otherModels,
        otherObjectives,
        requests,
        otherScheduler,
        otherShadows);
  }

  /** A pool without objectives. */
  public PoolConfig(
      String namespace,
      String name,
      Map<String, String> selector,
      List<Integer> targetPorts,
      String appProtocol,
      List<ModelConfig> models,
      RequestsConfig requests,
      SchedulerConfig scheduler) {
    this(
        namespace,
        name,
        selector,
        targetPorts,
        appProtocol,
        models,
        List.of(),
        requests,
        scheduler);
  }

  /** A pool that treats requests by the defaults. */
  public PoolConfig(
      String namespace,
      String name,
      Map<String, String> selector,
      List<Integer> targetPorts,
      String appProtocol,
      List<ModelConfig> models,
      SchedulerConfig scheduler) {
    this(
        namespace,
        name,
        selector,
        targetPorts,
        appProtocol,
        models,
        RequestsConfig.DEFAULT,
        scheduler);
  }
}
