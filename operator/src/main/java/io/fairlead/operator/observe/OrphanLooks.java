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
 * Has objects of a kind told that name no pool that is seen, one at a time and as they are then.
 *
 * <p>Safe to use from any thread.
 *
 * @param <K> by which an object is known
 * @param <R> kind that names pools
 */
final class OrphanLooks<K, R extends HasMetadata> implements AutoCloseable {
  /**
   * How long one that is being deleted, or whose pool has just gone, is left alone: most are gone
   * then, and nobody need be told. Where the kind of pools is deleted, its objects go a moment
   * before the API server says anything of that, too.
   */
  private static final Duration MOMENT = Duration.ofSeconds(1);

  private final Function<R, K> key;
  private final Function<K, Optional<R>> find;
  private final Function<R, @Nullable String> pool;
  private final Pools pools;
  private final BiFunction<R, BooleanSupplier, Optional<Duration>> tell;
  private final LongSupplier nanos;
  private final PendingLooks<K> looks;

  /** When the moment of each began that has one, by a clock that never jumps. */
  private final Map<K, Long> moments = new ConcurrentHashMap<>();

  /**
   * Looks at none yet.
   *
   * @param key by which an object is known
   * @param find the object as it is now, if it is there
   * @param pool the name of the one that an object names; null when it names none
   * @param pools that there are
   * @param tell each that names none that is seen, on a thread that may block, with whether that is
   *     so still; gives when to tell it again, empty for not
   * @param failed how soon to look again after the first that could not be told
   */
  OrphanLooks(
      Function<R, K> key,
      Function<K, Optional<R>> find,
      Function<R, @Nullable String> pool,
      Pools pools,
      BiFunction<R, BooleanSupplier, Optional<Duration>> tell,
      Duration failed) {
    this(key, find, pool, pools, tell, failed, System::nanoTime);
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
      BiFunction<R, BooleanSupplier, Optional<Duration>> tell,
      Duration failed,
      LongSupplier nanos) {
    this.nanos = nanos;
    this.key = key;
    this.find = find;
    this.pool = pool;
    this.pools = pools;
    this.tell = tell;
    looks = new PendingLooks<>(this::look, failed);
  }

  /** The pool that the object names has come or gone. */
  void poolChanged(R object) {
    if (isOrphan(object)) {
      moments.put(key.apply(object), nanos.getAsLong());
    }
    changed(object);
  }

  /** The object has come or changed or gone. */
  void changed(R object) {
    K known = key.apply(object);
    // One that had a moment may be gone since, or have its pool: what it left is thrown away.
    if (isOrphan(object) || moments.containsKey(known)) {
      looks.ask(known);
    }
  }

  private boolean isOrphan(R object) {
    String named = pool.apply(object);
    return named == null || !pools.has(object.getMetadata().getNamespace(), named);
  }

  private @Nullable Duration look(K known) {
    R orphan = find.apply(known).filter(this::isOrphan).orElse(null);
    if (orphan == null) {
      moments.remove(known);
      return null;
    }
    boolean leaves = orphan.isMarkedForDeletion();
    long now = nanos.getAsLong();
    Long since = leaves ? moments.computeIfAbsent(known, any -> now) : moments.get(known);
    if (since != null) {
      Duration left = MOMENT.minusNanos(now - since);
      if (left.isPositive()) {
        return left;
      }
      if (!leaves) {
        moments.remove(known, since);
      }
    }
    return tell.apply(orphan, () -> isOrphan(orphan)).orElse(null);
  }

  @Override
  public void close() {
    looks.close();
  }
}
