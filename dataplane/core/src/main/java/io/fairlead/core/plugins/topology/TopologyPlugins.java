package io.fairlead.core.plugins.topology;

import io.fairlead.plugin.PluginFactory;
import java.util.List;

/** The plugin types of this package. */
public final class TopologyPlugins {

  private TopologyPlugins() {}

  /** One factory per type. */
  public static List<PluginFactory> factories() {
    return List.of(new TopologyAffinityScorer.Factory(), new TopologyAffinityFilter.Factory());
  }
}
