package io.fairlead.core.plugins.compat;

import io.fairlead.plugin.PluginFactory;
import java.util.List;

/** The plugin types of this package. */
public final class CompatPlugins {

  private CompatPlugins() {}

  /** One factory per type. */
  public static List<PluginFactory> factories() {
    return List.of(new HeaderBasedTestingFilter.Factory(), new HeaderProfileHandler.Factory());
  }
}
