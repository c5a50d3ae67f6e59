package io.fairlead.epp.config;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.epp.datalayer.EndpointSet;
import org.jspecify.annotations.Nullable;

/**
 * What a source knows of a pool beside its scheduling. It counts whatever becomes of the
 * scheduling: one that can't be run keeps neither a model nor an endpoint from its effect.
 *
 * @param pool of which all but the scheduling counts; null where it stays as it is
 * @param endpoints null when they come from elsewhere still
 */
record PoolPart(@Nullable PoolConfig pool, @Nullable EndpointSet endpoints) {

  /**
   * This, scheduled as that is.
   *
   * @param contentHash of the state that this is part of
   */
  ConfigOffer.Document scheduledAs(ConfigOffer.Document other, String contentHash) {
    PoolConfig config = pool == null ? other.config() : pool.scheduledAs(other.config());
    return new ConfigOffer.Document(
        other.origin(),
        contentHash,
        config,
        ConfigDocument.hash(config),
        endpoints,
        other.scheduling(),
        null,
        this);
  }
}
