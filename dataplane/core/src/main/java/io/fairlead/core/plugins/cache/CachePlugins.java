package io.fairlead.core.plugins.cache;

import io.fairlead.plugin.PluginFactory;
import java.util.List;

/** The plugin types of this package. */
public final class CachePlugins {

  private CachePlugins() {}

  /** One factory per type. */
  public static List<PluginFactory> factories() {
    return List.of(
        new LoraAffinityScorer.Factory(),
        new NoHitLruScorer.Factory(),
        new PrefixCacheScorer.Factory(),
        new PrefixCacheScorer.PreciseFactory(),
        new PrefixCacheAffinityFilter.Factory());
  }
}
