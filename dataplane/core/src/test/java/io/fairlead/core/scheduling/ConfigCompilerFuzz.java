package io.fairlead.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.fairlead.crds.config.Criticality;
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
    "x"
  };

  private static final Object[] VALUES = {1L, 0L, -1L, Long.MAX_VALUE, 0.5, Double.NaN, true, "t"};

  private static final String[] SETTINGS = {
    "queueDepthThreshold", "kvCacheUtilThreshold", "headroom", "maxNumOfEndpoints", "x"
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
    try {
      compiler.compile(Documents.pool(models, new SchedulerConfig(plugins, profiles, detector)));
    } catch (InvalidConfigException e) {
      assertThat(e.problems()).isNotEmpty().allMatch(p -> !p.path().isEmpty());
    }
  }
}
