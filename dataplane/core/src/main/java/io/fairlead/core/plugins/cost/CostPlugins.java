package io.fairlead.core.plugins.cost;

import io.fairlead.plugin.PluginFactory;
import java.util.List;

/** The plugin types of this package. */
public final class CostPlugins {

  private CostPlugins() {}

  /** One factory per type. */
  public static List<PluginFactory> factories() {
    return List.of(new WorkCostScorer.Factory());
  }
}
