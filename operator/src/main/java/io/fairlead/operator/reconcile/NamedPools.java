package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.operator.observe.Pools;
import io.fairlead.operator.observe.Watched;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
  private final Pools pools;
  private final PoolEvents<P> events;

  /**
   * Prepares the events; the framework starts them.
   *
   * @param pools all that there are
   * @param name the name of the pool that an object names; null when it names none
   */
  NamedPools(EventSourceContext<P> context, Pools pools, Function<P, @Nullable String> name) {
    this.pools = pools;
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
    events =
        new PoolEvents<>(
            pools,
            pool ->
                Watched.ids(
                    objects.byIndex(
                        BY_POOL, Watched.key(pool.getNamespace().orElse(null), pool.getName()))));
  }

  /** To be handed to the framework. */
  List<EventSource<?, P>> sources() {
    return List.of(events);
  }

  /** Whether it is known which pools there are in the object's namespace. */
  boolean known(P object) {
    return pools.known(object.getMetadata().getNamespace());
  }

  /** Whether the object names a pool that is there. */
  boolean found(P object) {
    String pool = name.apply(object);
    return pool != null && pools.has(object.getMetadata().getNamespace(), pool);
  }
}
