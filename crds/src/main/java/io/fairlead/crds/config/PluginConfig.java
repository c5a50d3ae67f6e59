package io.fairlead.crds.config;

import java.util.Map;

/**
 * One plugin instance.
 *
 * @param name what profiles refer to; the type when the document gives none
 * @param type registered plugin type, e.g. {@code queue-scorer}
 * @param parameters the plugin's own settings as read from YAML: String, Boolean, Long, Double,
 *     List or Map of these
 */
public record PluginConfig(String name, String type, Map<String, Object> parameters) {

  public PluginConfig {
    parameters = Map.copyOf(parameters);
  }
}
