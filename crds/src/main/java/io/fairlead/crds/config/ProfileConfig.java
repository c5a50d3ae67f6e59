package io.fairlead.crds.config;

import java.util.List;

/**
 * A named list of plugins that run together: filters, then scorers, then the picker.
 *
 * @param name unique among the profiles
 * @param plugins references in the order in which filters run
 */
public record ProfileConfig(String name, List<PluginReference> plugins) {

  public ProfileConfig {
    plugins = List.copyOf(plugins);
  }

  /**
   * A plugin's place in a profile.
   *
   * @param pluginRef name of a {@link PluginConfig}
   * @param weight factor on a scorer's values, at least 0; ignored for other kinds
   */
  public record PluginReference(String pluginRef, double weight) {}
}
