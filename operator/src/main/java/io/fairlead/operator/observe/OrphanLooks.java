package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Has objects of a kind told that name no pool that is there, one at a time and as they are then.
 *
 * <p>Safe to use from any thread.
 *
 * @param <K> by which an object is known
 * @param <R> kind that names pools
 */
final class OrphanLooks<K, R extends HasMetadata> implements AutoCloseable {
  /** How soon to look again while it isn't known which pools there are. */
  private static final Duration NOT_KNOWN = Duration.ofSeconds(1);

  private final Function<R, K> key;
  private final Function<K, Optional<R>> find;
  private final Function<R, @Nullable String> pool;
  private final Pools pools;
  private final Consumer<R> told;
  private final PendingLooks<K> looks;

  /**
   * Looks at none yet.
   *
   * @param key by which an object is known
   * @param find the object as it is now, if it is there
   * @param pool the name of the one that an object names; null when it names none
   * @param pools that there are
   * @param told of each that names none that is there; on a thread that may block
   * @param failed how soon to look again after the first that could not be told
   */
  OrphanLooks(
      Function<R, K> key,
      Function<K, Optional<R>> find,
      Function<R, @Nullable String> pool,
      Pools pools,
      Consumer<R> told,
      Duration failed) {
    this.key = key;
    this.find = find;
    this.pool = pool;
    this.pools = pools;
    this.told = told;
    looks = new PendingLooks<>(this::look, failed);
  }

  /** The object, or the pool that it names, has come or changed or gone. */
  void changed(R object) {
    if (isOrphan(object)) {
      looks.ask(key.apply(object));
    }
  }

  private boolean isOrphan(R object) {
    String named = pool.apply(object);
    return named == null || !pools.has(object.getMetadata().getNamespace(), named);
  }

  private @Nullable Duration look(K known) {
    Optional<R> orphan =
        find.apply(known).filter(object -> !object.isMarkedForDeletion() && isOrphan(object));
    if (orphan.isPresent() && !pools.known(orphan.get().getMetadata().getNamespace())) {
      return NOT_KNOWN;
    }
    orphan.ifPresent(told);
    return null;
  }

  @Override
  public void close() {
    looks.close();
  }
}
