package io.fairlead.epp;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Takes down how many pickers share the pool when a request is scored. */
public final class ReplicaWitness implements Scorer {

  /** What was seen last, by the setting {@code test}. */
  static final Map<String, Integer> SEEN = new ConcurrentHashMap<>();

  private final String test;

  private ReplicaWitness(String test) {
    this.test = test;
  }

  /** Only this plugin. */
  static SchedulerConfig alone(String test) {
    return new SchedulerConfig(
        List.of(
            new PluginConfig("witness", "replica-witness", Map.of("test", (Object) test)),
            new PluginConfig("picker", "max-score-picker", Map.of())),
        List.of(),
        null);
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    SEEN.put(test, PoolCandidates.of(candidates).replicas());
  }

  /** Makes it. */
  public static final class Factory implements PluginFactory {
    @Override
    public String type() {
      return "replica-witness";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new ReplicaWitness(parameters.text("test", ""));
    }
  }
}
