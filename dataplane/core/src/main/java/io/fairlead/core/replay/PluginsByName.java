package io.fairlead.core.replay;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import java.util.List;
import java.util.Map;

/**
 * The plugins of a config: what it lists, and what goes by its type's name without being listed.
 */
record PluginsByName(List<PluginConfig> listed) {

  static List<PluginConfig> listed(PoolConfig config) {
    return config.scheduler().plugins();
  }

  PluginConfig get(String name) {
    return listed.stream()
        .filter(plugin -> plugin.name().equals(name))
        .findFirst()
        .orElse(new PluginConfig(name, name, Map.of()));
  }

  /** Whether it is what a plugin of another config is, but for its name. */
  boolean isSame(String name, PluginConfig other) {
    PluginConfig own = get(name);
    return own.type().equals(other.type()) && own.parameters().equals(other.parameters());
  }
}
