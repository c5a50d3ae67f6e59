package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.observe.Pools;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import java.util.Set;

/**
 * Wakes the pool that has the name of one which comes or goes.
 *
 * @param <P> kind that is reconciled
 */
final class PoolEvents<P extends HasMetadata> extends AbstractEventSource<InferencePool, P> {
  private final Pools pools;

  /** Wakes nobody before it is started. */
  PoolEvents(Pools pools) {
    super(InferencePool.class, "pools-of-others");
    this.pools = pools;
  }

  @Override
  public void start() {
    super.start();
    pools.listen(this::wake);
  }

  private void wake(ResourceID pool) {
    if (isRunning()) {
      getEventHandler().handleEvent(new Event(pool));
    }
  }

  @Override
  public Set<InferencePool> getSecondaryResources(P object) {
    return Set.of();
  }
}
