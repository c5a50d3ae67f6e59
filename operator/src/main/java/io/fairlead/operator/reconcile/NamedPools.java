package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.observe.Watched;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The pools that objects of a kind name. A pool that comes or goes wakes those that name it.
 *
 * @param <P> kind that is reconciled
 */
final class NamedPools<P extends HasMetadata> {
  /** When to look again at an object of whose namespace not all pools are known. */
  static final Duration LOOK_AGAIN = Duration.ofSeconds(5);

  private static final String BY_POOL = "pool";

  private final Function<P, @Nullable String> name;
  private final Watched<InferencePool, P> pools;

  /**
   * Prepares the informer; the framework starts it.
   *
   * @param name the name of the pool that an object names; null when it names none
   */
  NamedPools(EventSourceContext<P> context, Function<P, @Nullable String> name) {
    this.name = name;
    IndexerResourceCache<P> objects = context.getPrimaryCache();
    objects.addIndexers(
        Map.of(
            BY_POOL,
            object -> {
              String pool = name.apply(object);
              return pool == null
                  ? List.of()
                  : List.of(Watched.key(object.getMetadata().getNamespace(), pool));
            }));
    pools =
        new Watched<>(
            InferencePool.class, null, pool -> null, pool -> naming(objects, pool), context);
  }

  /** To be handed to the framework. */
  List<EventSource<?, P>> sources() {
    return List.of(pools);
  }

  /** Whether it is known which pools there are in the object's namespace. */
  boolean known(P object) {
    return pools.synced(object.getMetadata().getNamespace());
  }

  /** Whether the object names a pool that is there. */
  boolean found(P object) {
    String pool = name.apply(object);
    return pool != null
        && pools.get(new ResourceID(pool, object.getMetadata().getNamespace())).isPresent();
  }

  private static <P extends HasMetadata> Set<ResourceID> naming(
      IndexerResourceCache<P> objects, InferencePool pool) {
    return Watched.ids(
        objects.byIndex(
            BY_POOL, Watched.key(pool.getMetadata().getNamespace(), pool.getMetadata().getName())));
  }
}
