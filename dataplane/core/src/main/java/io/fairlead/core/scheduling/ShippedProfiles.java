package io.fairlead.core.scheduling;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Profiles that a document asks for by name alone: {@code cost}, and {@code weighted} with
 * upstream's weights. A plugin of theirs that the document lists itself, under its type's name,
 * keeps the document's parameters.
 */
final class ShippedProfiles {

  private static final Map<String, List<PluginReference>> BY_NAME =
      Map.of(
          "cost",
          List.of(new PluginReference("work-cost", 1)),
          "weighted",
          List.of(
              new PluginReference("queue-scorer", 2),
              new PluginReference("kv-cache-utilization-scorer", 2),
              new PluginReference("prefix-cache-scorer", 3),
              new PluginReference("lora-affinity-scorer", 1)));

  private ShippedProfiles() {}

  /** The config with the plugins of such profiles written out, where they stood. */
  static SchedulerConfig expand(SchedulerConfig config) {
    List<PluginConfig> plugins = new ArrayList<>(config.plugins());
    List<ProfileConfig> profiles = new ArrayList<>();
    for (ProfileConfig profile : config.profiles()) {
      List<PluginReference> shipped = BY_NAME.get(profile.name());
      if (shipped == null || !profile.plugins().isEmpty()) {
        profiles.add(profile);
        continue;
      }
      profiles.add(new ProfileConfig(profile.name(), shipped));
      for (PluginReference reference : shipped) {
        String type = reference.pluginRef();
        if (plugins.stream().noneMatch(plugin -> plugin.name().equals(type))) {
          plugins.add(new PluginConfig(type, type, Map.of()));
        }
      }
    }
    return new SchedulerConfig(
        plugins,
        profiles,
        config.saturationDetector(),
        config.featureGates(),
        config.flowControl(),
        config.dataLayer(),
        config.parsers());
  }
}
