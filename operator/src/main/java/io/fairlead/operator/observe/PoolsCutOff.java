package io.fairlead.operator.observe;

import io.fairlead.crds.v1.InferencePool;
import io.javaoperatorsdk.operator.health.InformerWrappingEventSourceHealthIndicator;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where pools themselves are watched no more. Those that are known go on, and what else concerns
 * them is seen; they are woken when that begins and ends.
 */
final class PoolsCutOff extends AbstractEventSource<InferencePool, InferencePool> {
  private final IndexerResourceCache<InferencePool> pools;
  private final Class<InferencePool> kind;
  private final @Nullable CutOff cutOff;

  /**
   * @param pools all that are there, as their informer holds them
   * @param kind of the group that is looked at
   */
  PoolsCutOff(IndexerResourceCache<InferencePool> pools, Class<InferencePool> kind) {
    super(InferencePool.class, "cut-off");
    this.pools = pools;
    this.kind = kind;
    cutOff =
        pools instanceof InformerWrappingEventSourceHealthIndicator<?> informers
            ? new CutOff(kind, informers, this::wake)
            : null;
  }

  /** The kind. */
  Class<InferencePool> kind() {
    return kind;
  }

  /** Whether all pools of the namespace were known once, and changes are seen no more. */
  boolean in(@Nullable String namespace) {
    return cutOff != null && cutOff.in(namespace);
  }

  @Override
  public void start() {
    super.start();
    if (cutOff != null) {
      cutOff.start();
    }
  }

  @Override
  public void stop() {
    if (cutOff != null) {
      cutOff.stop();
    }
    super.stop();
  }

  private void wake(String informer) {
    CutOff.events(informer, pools.list()).forEach(getEventHandler()::handleEvent);
  }

  @Override
  public Set<InferencePool> getSecondaryResources(InferencePool pool) {
    return Set.of();
  }
}
