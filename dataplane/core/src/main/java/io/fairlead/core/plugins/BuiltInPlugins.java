package io.fairlead.core.plugins;

import io.fairlead.core.plugins.cache.CachePlugins;
import io.fairlead.core.plugins.compat.CompatPlugins;
import io.fairlead.core.plugins.cost.CostPlugins;
import io.fairlead.core.plugins.disagg.DisaggPlugins;
import io.fairlead.core.plugins.flow.FlowPlugins;
import io.fairlead.core.plugins.labels.LabelPlugins;
import io.fairlead.core.plugins.load.LoadPlugins;
import io.fairlead.core.plugins.pick.PickPlugins;
import io.fairlead.core.plugins.session.SessionPlugins;
import io.fairlead.core.plugins.topology.TopologyPlugins;
import io.fairlead.plugin.PluginFactory;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The plugin types that are always there. */
public final class BuiltInPlugins {

  private BuiltInPlugins() {}

  /** One factory per type, sorted by type. */
  public static List<PluginFactory> factories() {
    return Stream.of(
            CostPlugins.factories(),
            LoadPlugins.factories(),
            CachePlugins.factories(),
            SessionPlugins.factories(),
            DisaggPlugins.factories(),
            TopologyPlugins.factories(),
            LabelPlugins.factories(),
            PickPlugins.factories(),
            FlowPlugins.factories(),
            CompatPlugins.factories())
        .flatMap(List::stream)
        .sorted(Comparator.comparing(PluginFactory::type))
        .toList();
  }
}
