package io.fairlead.core.scheduling;

import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Shorthand for config documents. */
final class Documents {

  private Documents() {}

  static PluginConfig plugin(String type) {
    return plugin(type, type, Map.of());
  }

  static PluginConfig plugin(String name, String type, Map<String, Object> parameters) {
    return new PluginConfig(name, type, parameters);
  }

  static ProfileConfig profile(String name, String... refs) {
    return new ProfileConfig(
        name, Stream.of(refs).map(ref -> new PluginReference(ref, 1)).toList());
  }

  static PoolConfig pool(
      List<PluginConfig> plugins, List<ProfileConfig> profiles, @Nullable String detector) {
    return pool(List.of(), new SchedulerConfig(plugins, profiles, detector));
  }

  static PoolConfig pool(List<ModelConfig> models, SchedulerConfig scheduler) {
    return new PoolConfig(
        "default", "pool", Map.of("app", "vllm"), List.of(8000), "http", models, scheduler);
  }
}
