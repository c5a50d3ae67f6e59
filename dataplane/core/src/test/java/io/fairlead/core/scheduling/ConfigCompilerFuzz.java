package io.fairlead.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.DataLayerConfig;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Any document is either compiled or refused with the problems named; nothing else is thrown. */
class ConfigCompilerFuzz {

  private static final String[] NAMES = {
    "",
    "queue-scorer",
    "prefix-cache-scorer",
    "max-score-picker",
    "random-picker",
    "utilization-detector",
    "single-profile-handler",
    "openai-parser",
    "lora-affinity-scorer",
    "disagg-profile-handler",
    "session-affinity-scorer",
    "approx-prefix-cache-producer",
    "inflight-load-producer",
    "metrics-data-source",
    "core-metrics-extractor",
    "edf-ordering-policy",
    "round-robin-fairness-policy",
    "priority-holdback-policy",
    "passthrough-parser",
    "x"
  };

  private static final Object[] VALUES = {1L, 0L, -1L, Long.MAX_VALUE, 0.5, Double.NaN, true, "t"};

  private static final String[] SETTINGS = {
    "queueDepthThreshold", "kvCacheUtilThreshold", "headroom", "maxNumOfEndpoints", "x",
    "maxPrefixBlocksToMatch", "blockSizeTokens", "autoTune", "minCeiling", "scheme"
  };

  private final ConfigCompiler compiler = new ConfigCompiler(List.of());

  @FuzzTest
  void compilesOrNamesTheProblems(FuzzedDataProvider data) {
    List<ModelConfig> models = new ArrayList<>();
    for (int n = data.consumeInt(0, 3); n > 0; n--) {
      models.add(
          new ModelConfig(
              data.pickValue(NAMES),
              data.pickValue(Criticality.values()),
              List.of(new TargetModel(data.pickValue(NAMES), data.consumeInt()))));
    }
    List<PluginConfig> plugins = new ArrayList<>();
    for (int n = data.consumeInt(0, 6); n > 0; n--) {
      Map<String, Object> parameters =
          data.consumeBoolean()
              ? Map.of()
              : Map.of(data.pickValue(SETTINGS), data.pickValue(VALUES));
      plugins.add(new PluginConfig(data.pickValue(NAMES), data.pickValue(NAMES), parameters));
    }
    List<ProfileConfig> profiles = new ArrayList<>();
    for (int n = data.consumeInt(0, 3); n > 0; n--) {
      List<PluginReference> references = new ArrayList<>();
      for (int m = data.consumeInt(0, 4); m > 0; m--) {
        references.add(new PluginReference(data.pickValue(NAMES), data.consumeDouble()));
      }
      profiles.add(new ProfileConfig(data.pickValue(NAMES), references));
    }
    String detector = data.consumeBoolean() ? data.pickValue(NAMES) : null;
    SchedulerConfig config =
        data.consumeBoolean()
            ? new SchedulerConfig(plugins, profiles, detector)
            : new SchedulerConfig(
                plugins,
                profiles,
                detector,
                Map.of(data.pickValue(NAMES), data.consumeBoolean()),
                flowControl(data),
                dataLayer(data),
                List.of(data.pickValue(NAMES)));
    try {
      CompiledConfig first = compiler.compile(Documents.pool(models, config));
      CompiledConfig again = compiler.compile(first.source(), first);
      assertThat(again.observers()).isEqualTo(first.observers());
      assertThat(again.prefix()).isEqualTo(first.prefix());
    } catch (InvalidConfigException e) {
      assertThat(e.problems()).isNotEmpty().allMatch(p -> !p.path().isEmpty());
    }
  }

  private static FlowControlConfig flowControl(FuzzedDataProvider data) {
    FlowControlConfig.Band band =
        new FlowControlConfig.Band(
            data.consumeInt(), null, 0L, data.pickValue(NAMES), data.pickValue(NAMES));
    return new FlowControlConfig(
        data.consumeLong(),
        null,
        null,
        null,
        data.consumeBoolean(),
        data.pickValue(NAMES),
        data.pickValue(NAMES),
        band,
        null,
        List.of(band));
  }

  private static DataLayerConfig dataLayer(FuzzedDataProvider data) {
    return new DataLayerConfig(
        data.consumeBoolean(),
        List.of(new DataLayerConfig.Source(data.pickValue(NAMES), List.of(data.pickValue(NAMES)))),
        data.pickValue(NAMES),
        null,
        data.pickValue(NAMES),
        null);
  }
}
