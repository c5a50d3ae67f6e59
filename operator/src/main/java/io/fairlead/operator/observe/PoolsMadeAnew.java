package io.fairlead.operator.observe;

import io.fairlead.crds.v1.InferencePool;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceAction;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceEvent;
import java.util.Set;

/**
 * Pools that were made anew, under the name of one that was deleted, before the framework was done
 * with the deletion. It takes the new pool for the deleted one then, forgets both, and hears of
 * nothing but changes of the pool itself from then on. So it is told once more that the pool was
 * made.
 */
final class PoolsMadeAnew extends AbstractEventSource<InferencePool, InferencePool> {
  private final IndexerResourceCache<InferencePool> pools;

  /**
   * Wakes none by itself.
   *
   * @param pools all that are there
   */
  PoolsMadeAnew(IndexerResourceCache<InferencePool> pools) {
    super(InferencePool.class, "anew");
    this.pools = pools;
  }

  /**
   * Wakes the pool of this name, if there is one; to be called once the one before is forgotten.
   */
  void wake(ResourceID id) {
    pools
        .get(id)
        .ifPresent(
            pool ->
                getEventHandler().handleEvent(new ResourceEvent(ResourceAction.ADDED, id, pool)));
  }

  @Override
  public Set<InferencePool> getSecondaryResources(InferencePool pool) {
    return Set.of();
  }
}
