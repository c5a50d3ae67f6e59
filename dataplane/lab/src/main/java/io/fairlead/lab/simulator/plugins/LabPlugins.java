package io.fairlead.lab.simulator.plugins;

import io.fairlead.plugin.PluginFactory;
import java.util.List;

/** Plugin types that policies of the lab may name beside the built-in ones. */
public final class LabPlugins {

  private LabPlugins() {}

  /** One of each type. */
  public static List<PluginFactory> factories() {
    return List.of(
        new PolledQueueScorer.Factory(),
        new ProductFormScorer.Factory(),
        new RoundRobinPicker.Factory());
  }
}
