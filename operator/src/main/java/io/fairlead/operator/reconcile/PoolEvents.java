package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.observe.Pools;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.AbstractEventSource;
import java.util.Set;
import java.util.function.Function;

/**
 * Wakes whom it concerns that a pool comes or goes which others serve.
 *
 * @param <P> kind that is reconciled
 */
final class PoolEvents<P extends HasMetadata> extends AbstractEventSource<InferencePool, P> {
  private final Pools pools;
  private final Function<ResourceID, Set<ResourceID>> concerned;

  /**
   * Wakes nobody before it is started.
   *
   * @param concerned by a pool
   */
  PoolEvents(Pools pools, Function<ResourceID, Set<ResourceID>> concerned) {
    super(InferencePool.class, "pools-of-others");
    this.pools = pools;
    this.concerned = concerned;
  }

  @Override
  public void start() {
    super.start();
    pools.listen(this::wake);
  }

  private void wake(ResourceID pool) {
    if (isRunning()) {
      concerned.apply(pool).forEach(id -> getEventHandler().handleEvent(new Event(id)));
    }
  }

  @Override
  public Set<InferencePool> getSecondaryResources(P object) {
    return Set.of();
  }
}
