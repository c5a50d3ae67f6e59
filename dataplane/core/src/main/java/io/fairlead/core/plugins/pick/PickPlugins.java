package io.fairlead.core.plugins.pick;

import io.fairlead.plugin.PluginFactory;
import java.util.List;

/** The plugin types of this package. */
public final class PickPlugins {

  private PickPlugins() {}

  /** One factory per type. */
  public static List<PluginFactory> factories() {
    return List.of(
        new ConsistentHashPicker.Factory(),
        new MaxScorePicker.Factory(),
        new RandomPicker.Factory(),
        new SingleProfileHandler.Factory(),
        new WeightedRandomPicker.Factory());
  }
}
