package io.fairlead.core.plugins;

import io.fairlead.plugin.PluginFactory;
import java.util.List;

/** The plugin types that are always there. */
public final class BuiltInPlugins {

  private BuiltInPlugins() {}

  /** One factory per type, sorted by type. */
  public static List<PluginFactory> factories() {
    return List.of(
        new KvCacheUtilizationScorer.Factory(),
        new MaxScorePicker.Factory(),
        new PrefixCacheScorer.Factory(),
        new QueueScorer.Factory(),
        new RandomPicker.Factory(),
        new SingleProfileHandler.Factory(),
        new UtilizationDetector.Factory());
  }
}
