package io.fairlead.lab.simulator;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.InvalidConfigException;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ShadowConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.lab.peers.Peers;
import io.fairlead.lab.simulator.Membership.Member;
import io.fairlead.stub.engine.EngineProfile;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Makes of a run's policy what a picker runs for its workload's models. */
final class PolicyCompiler {

  private final String policy;
  private final PoolConfig config;
  private final List<EngineProfile> calibrated;
  private final List<EngineProfile> engines;

  /**
   * A compiler for one run.
   *
   * @param members all servers that are ever there
   * @param shadows policies that are asked what they would have done
   */
  PolicyCompiler(SimulationSpec spec, List<Member> members, List<Policy> shadows) {
    policy = spec.policy().name();
    calibrated = spec.pool().engines();
    engines = members.stream().map(Member::engine).toList();
    List<ModelConfig> models =
        spec.workload().models().stream()
            .map(
                model ->
                    new ModelConfig(
                        model.name(),
                        model.criticality(),
                        List.of(),
                        TimeoutsConfig.UNSET,
                        ModelQueueConfig.DEFAULT,
                        model.latency()))
            .toList();
    config =
        new PoolConfig(
                "default",
                "simulated",
                Map.of("app", "simulated"),
                List.of(8000),
                "http",
                models,
                spec.policy().scheduler())
            .withShadows(
                shadows.stream()
                    .map(shadow -> new ShadowConfig(shadow.name(), shadow.scheduler()))
                    .toList());
  }

  /**
   * What one more picker runs.
   *
   * @param there whether the pool has the server of a name now
   * @throws IllegalArgumentException if the policy is none; one line per problem
   */
  CompiledConfig compile(Predicate<String> there) {
    try {
      return new ConfigCompiler(Peers.factories(calibrated, engines, there)).compile(config);
    } catch (InvalidConfigException e) {
      throw new IllegalArgumentException("policy " + policy + ": " + e.getMessage(), e);
    }
  }
}
