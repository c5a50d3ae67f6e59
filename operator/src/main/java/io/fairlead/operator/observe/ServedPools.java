package io.fairlead.operator.observe;

import io.fairlead.crds.v1.InferencePool;
import io.javaoperatorsdk.operator.health.InformerWrappingEventSourceHealthIndicator;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Which pools of a group there are, as the informer of whoever serves them holds them: nobody else
 * needs one of his own.
 *
 * <p>Safe to use from any thread.
 */
public final class ServedPools implements Pools {
  private final List<Consumer<ResourceID>> listeners = new CopyOnWriteArrayList<>();
  private volatile @Nullable IndexerResourceCache<InferencePool> informer;

  /** They are held there. */
  public void heldBy(IndexerResourceCache<InferencePool> pools) {
    informer = pools;
  }

  /** One has come or gone. */
  public void tell(InferencePool pool) {
    ResourceID id = ResourceID.fromResource(pool);
    listeners.forEach(listener -> listener.accept(id));
  }

  @Override
  public void listen(Consumer<ResourceID> listener) {
    listeners.add(listener);
  }

  @Override
  public boolean known(@Nullable String namespace) {
    return informer instanceof InformerWrappingEventSourceHealthIndicator<?> watch
        && Watched.synced(watch, namespace);
  }

  /** Whether changes in the namespace are seen at this moment. */
  public boolean isWatching(@Nullable String namespace) {
    return informer instanceof InformerWrappingEventSourceHealthIndicator<?> watch
        && Watched.isWatching(watch, namespace);
  }

  @Override
  public boolean has(@Nullable String namespace, String name) {
    IndexerResourceCache<InferencePool> pools = informer;
    return pools != null && pools.get(new ResourceID(name, namespace)).isPresent();
  }
}
