package io.fairlead.core.plugins.load;

import io.fairlead.plugin.PluginFactory;
import java.util.List;

/** The plugin types of this package. */
public final class LoadPlugins {

  private LoadPlugins() {}

  /** One factory per type. */
  public static List<PluginFactory> factories() {
    return List.of(
        new ActiveRequestScorer.Factory(),
        new EndpointAttributeScorer.Factory(),
        new KvCacheUtilizationScorer.Factory(),
        new LoadAwareScorer.Factory(),
        new QueueScorer.Factory(),
        new RunningRequestsSizeScorer.Factory(),
        new TokenLoadScorer.Factory(),
        new EndpointAttributeFilter.Factory(),
        new UtilizationFilter.Factory(),
        new ConcurrencyDetector.Factory(),
        new UtilizationDetector.Factory(),
        new ExpectedWaitDetector.Factory());
  }
}
