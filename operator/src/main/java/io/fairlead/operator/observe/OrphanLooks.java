package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
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

  /** Most that are being deleted are gone in a moment, and nobody need be told. */
  private static final Duration MOMENT = Duration.ofSeconds(1);

  private final Function<R, K> key;
  private final Function<K, Optional<R>> find;
  private final Function<R, @Nullable String> pool;
  private final Pools pools;
  private final Function<R, Optional<Duration>> tell;
  private final BiFunction<R, BooleanSupplier, Optional<Duration>> tellUnknown;
  private final LongSupplier nanos;
  private final PendingLooks<K> looks;

  /** When each that is being deleted was first looked at, by a clock that never jumps. */
  private final Map<K, Long> leaving = new ConcurrentHashMap<>();

  /** When each lost its pool that is not told so yet, by the same clock. */
  private final Map<K, Long> bereft = new ConcurrentHashMap<>();

  /**
   * Looks at none yet.
   *
   * @param key by which an object is known
   * @param find the object as it is now, if it is there
   * @param pool the name of the one that an object names; null when it names none
   * @param pools that there are
   * @param tell each that names none that is there, on a thread that may block; gives when to tell
   *     it again, empty for not
   * @param tellUnknown the same of each of which it is not known whether its pool is there, as long
   *     as that is so
   * @param failed how soon to look again after the first that could not be told
   */
  OrphanLooks(
      Function<R, K> key,
      Function<K, Optional<R>> find,
      Function<R, @Nullable String> pool,
      Pools pools,
      Function<R, Optional<Duration>> tell,
      BiFunction<R, BooleanSupplier, Optional<Duration>> tellUnknown,
      Duration failed) {
    this(key, find, pool, pools, tell, tellUnknown, failed, System::nanoTime);
  }

  /**
   * The same.
   *
   * @param nanos a clock that never jumps
   */
  OrphanLooks(
      Function<R, K> key,
      Function<K, Optional<R>> find,
      Function<R, @Nullable String> pool,
      Pools pools,
      Function<R, Optional<Duration>> tell,
      BiFunction<R, BooleanSupplier, Optional<Duration>> tellUnknown,
      Duration failed,
      LongSupplier nanos) {
    this.nanos = nanos;
    this.key = key;
    this.find = find;
    this.pool = pool;
    this.pools = pools;
    this.tell = tell;
    this.tellUnknown = tellUnknown;
    looks = new PendingLooks<>(this::look, failed);
  }

  /**
   * The pool that the object names has come or gone. Where the kind of pools is deleted, its
   * objects go a moment before the API server says anything of that.
   */
  void poolChanged(R object) {
    if (isOrphan(object)) {
      bereft.put(key.apply(object), nanos.getAsLong());
    }
    changed(object);
  }

  /** The object has come or changed or gone. */
  void changed(R object) {
    K known = key.apply(object);
    // One that was being deleted may be gone since, or have its pool: what it left is thrown away.
    if (isOrphan(object) || leaving.containsKey(known)) {
      looks.ask(known);
    }
  }

  private boolean isOrphan(R object) {
    String named = pool.apply(object);
    return named == null || !pools.has(object.getMetadata().getNamespace(), named);
  }

  private boolean isUnknown(R object) {
    return isOrphan(object) && !pools.known(object.getMetadata().getNamespace());
  }

  private @Nullable Duration look(K known) {
    Optional<R> orphan = find.apply(known).filter(this::isOrphan);
    if (orphan.filter(HasMetadata::isMarkedForDeletion).isEmpty()) {
      leaving.remove(known);
    }
    if (orphan.isEmpty()) {
      bereft.remove(known);
      return null;
    }
    Long lost = bereft.get(known);
    if (lost != null) {
      Duration left = MOMENT.minusNanos(nanos.getAsLong() - lost);
      if (left.isPositive()) {
        return left;
      }
      bereft.remove(known, lost);
    }
    if (!pools.known(orphan.get().getMetadata().getNamespace())) {
      return tellUnknown.apply(orphan.get(), () -> isUnknown(orphan.get())).orElse(NOT_KNOWN);
    }
    if (orphan.get().isMarkedForDeletion()) {
      long now = nanos.getAsLong();
      long since = leaving.computeIfAbsent(known, any -> now);
      Duration left = MOMENT.minusNanos(now - since);
      if (left.isPositive()) {
        return left;
      }
    }
    return tell.apply(orphan.get()).orElse(null);
  }

  @Override
  public void close() {
    looks.close();
  }
}
