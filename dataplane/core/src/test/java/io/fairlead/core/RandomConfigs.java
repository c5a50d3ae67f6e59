package io.fairlead.core;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.config.TimeoutsConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Configs with other models, plugins, and kinds of profile each; some take plugins over. Nobody
 * waits: of who does, {@code FlowControlRandomTest} and {@code FaultEventsTest} tell.
 */
final class RandomConfigs {

  private static final List<Criticality> CRITICALITIES = List.of(Criticality.values());

  private final SplittableRandom random;
  private final TruthModel truth;
  private final ConfigCompiler compiler;
  private @Nullable CompiledConfig last;

  RandomConfigs(SplittableRandom random, TruthPlugins plugins, TruthModel truth) {
    this.random = random;
    this.truth = truth;
    this.compiler = new ConfigCompiler(plugins.factories());
  }

  /** The config to be applied now. */
  CompiledConfig next() {
    List<ModelConfig> models = models();
    truth.models.clear();
    models.forEach(m -> truth.models.put(m.name(), m.criticality()));
    truth.unconfigured = CRITICALITIES.get(random.nextInt(3));
    SchedulerConfig scheduler = scheduler();
    truth.observers =
        (int)
            scheduler.plugins().stream()
                .filter(p -> p.type().equals(TruthPlugins.OBSERVER))
                .count();
    CompiledConfig next =
        compiler.compile(
            config(models, truth.unconfigured, receipts(), scheduler),
            random.nextBoolean() ? last : null);
    last = next;
    return next;
  }

  private static PoolConfig config(
      List<ModelConfig> models,
      Criticality unconfigured,
      ReceiptsConfig receipts,
      SchedulerConfig scheduler) {
    return Pool.config(
        new RequestsConfig(unconfigured, TimeoutsConfig.UNSET, false, 20).withReceipts(receipts),
        scheduler,
        models.toArray(ModelConfig[]::new));
  }

  private ReceiptsConfig receipts() {
    return new ReceiptsConfig(500, 1 + random.nextInt(2));
  }

  private List<ModelConfig> models() {
    List<ModelConfig> models = new ArrayList<>();
    models.add(Pool.model("critical", Criticality.CRITICAL));
    models.add(Pool.model("base", Criticality.STANDARD));
    if (random.nextBoolean()) {
      models.add(
          Pool.model(
              "split",
              CRITICALITIES.get(random.nextInt(3)),
              new TargetModel("one", 1 + random.nextInt(9)),
              new TargetModel("two", 1)));
    }
    return models;
  }

  private SchedulerConfig scheduler() {
    return switch (random.nextInt(7)) {
      case 0 -> Pool.atOnce(List.of(), List.of());
      case 1, 2 -> single(TruthPlugins.SCORER, TruthPlugins.OBSERVER, "queue-scorer");
      case 3 ->
          single(
              TruthPlugins.SCORER,
              TruthPlugins.OBSERVER,
              "kv-cache-utilization-scorer",
              "prefix-cache-scorer",
              "random-picker");
      default -> pairs();
    };
  }

  private static SchedulerConfig single(String... types) {
    List<PluginConfig> plugins =
        new ArrayList<>(Stream.of(types).map(t -> new PluginConfig(t, t, Map.of())).toList());
    plugins.add(new PluginConfig("second-observer", TruthPlugins.OBSERVER, Map.of()));
    return Pool.atOnce(plugins, List.of());
  }

  private static SchedulerConfig pairs() {
    List<PluginConfig> plugins =
        Stream.of(
                TruthPlugins.PAIRS,
                TruthPlugins.SCORER,
                TruthPlugins.OBSERVER,
                "max-score-picker",
                "random-picker")
            .map(type -> new PluginConfig(type, type, Map.of()))
            .toList();
    return Pool.atOnce(
        plugins,
        List.of(
            profile("decode", TruthPlugins.SCORER, "max-score-picker"),
            profile("prefill", "random-picker")));
  }

  private static ProfileConfig profile(String name, String... plugins) {
    return new ProfileConfig(
        name, Stream.of(plugins).map(plugin -> new PluginReference(plugin, 1)).toList());
  }
}
