package io.fairlead.epp;

import io.fairlead.plugin.PluginFactory;
import java.util.List;
import java.util.ServiceLoader;

/** Plugin types that come in jars of their own. */
final class PluginTypes {

  private PluginTypes() {}

  static List<PluginFactory> found() {
    return ServiceLoader.load(PluginFactory.class).stream()
        .map(ServiceLoader.Provider::get)
        .toList();
  }
}
