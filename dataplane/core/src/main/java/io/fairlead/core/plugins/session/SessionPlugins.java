package io.fairlead.core.plugins.session;

import io.fairlead.plugin.PluginFactory;
import java.util.List;

/** The plugin types of this package. */
public final class SessionPlugins {

  private SessionPlugins() {}

  /** One factory per type. */
  public static List<PluginFactory> factories() {
    return List.of(new SessionAffinityScorer.Factory(), new SessionAffinityFilter.Factory());
  }
}
