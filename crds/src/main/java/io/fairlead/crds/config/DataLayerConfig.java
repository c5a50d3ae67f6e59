package io.fairlead.crds.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Upstream's {@code dataLayer} section: where what is known of endpoints comes from. A null says
 * nothing, and the default holds.
 *
 * @param injectDefaults whether the default source is there beside those listed
 * @param sources what is asked
 * @param discovery name of the plugin that finds endpoints
 * @param peerDiscovery name of the plugin that finds other replicas
 * @param crossReplicaSyncer name of the plugin that tells other replicas
 * @param crossReplicaSyncInterval how often
 */
public record DataLayerConfig(
    @Nullable Boolean injectDefaults,
    List<Source> sources,
    @Nullable String discovery,
    @Nullable String peerDiscovery,
    @Nullable String crossReplicaSyncer,
    @Nullable Duration crossReplicaSyncInterval) {

  public DataLayerConfig {
    sources = List.copyOf(sources);
  }

  /**
   * A source and what reads it.
   *
   * @param pluginRef name of the source's plugin
   * @param extractors names of plugins
   */
  public record Source(String pluginRef, List<String> extractors) {

    public Source {
      extractors = List.copyOf(extractors);
    }
  }
}
