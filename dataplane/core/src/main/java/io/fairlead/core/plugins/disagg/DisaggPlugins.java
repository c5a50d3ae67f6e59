package io.fairlead.core.plugins.disagg;

import io.fairlead.plugin.PluginFactory;
import java.util.List;
import java.util.stream.Stream;

/** The plugin types of this package. */
public final class DisaggPlugins {

  private DisaggPlugins() {}

  /** One factory per type. */
  public static List<PluginFactory> factories() {
    return Stream.of(
            List.<PluginFactory>of(
                new AlwaysDisaggPdDecider.Factory(),
                new DisaggProfileHandler.Factory(),
                new PrefixBasedPdDecider.Factory()),
            RoleFilter.Factory.all())
        .flatMap(List::stream)
        .toList();
  }
}
