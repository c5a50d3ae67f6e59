package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.PoolNames;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether it was somebody's wish that no EndpointPicker names a pool any more. When the kind is
 * deleted, all EndpointPickers are, and each of them looks as if only it were; a pool must not be
 * given the defaults for that, nor lose its picker: it comes back as it was with the kind.
 *
 * <p>Safe to use from any thread.
 */
final class LostPickers {
  /**
   * How long a pool is left as it is before the kind is asked for. The first objects of a kind that
   * is deleted go while some API servers still answer as if it stayed.
   */
  private static final Duration HOLD = Duration.ofSeconds(3);

  /** Much less than is waited before. */
  private static final Duration FRESH = Duration.ofSeconds(1);

  /**
   * How long what it asked for stays still after the kind was away: who makes a kind anew makes its
   * objects after it.
   */
  private static final Duration BACK = Duration.ofSeconds(10);

  private static final Verdict AWAITED =
      Verdict.pending(
          "The pool's EndpointPicker went with its kind, which is back, and is waited for, ten seconds at most; apply it");

  private final Waits missing;
  private final Waits back;
  private final KindLooks kinds;

  /** By UID of the pool whether an EndpointPicker named it when that was last certain. */
  private final Map<String, Boolean> named = new ConcurrentHashMap<>();

  /** UIDs of pools that lost theirs, and whose kind was away since. */
  private final Set<String> away = ConcurrentHashMap.newKeySet();

  /**
   * @param nanos a clock that never jumps
   * @param kinds shared with whoever else asks for kinds
   */
  LostPickers(LongSupplier nanos, KindLooks kinds) {
    this.kinds = kinds;
    this.missing = new Waits(nanos);
    this.back = new Waits(nanos);
  }

  /**
   * To be asked before it is decided what a pool gets.
   *
   * @param parent EndpointPicker that our entry in the pool's status speaks for; null without one
   * @param watched whether changes of EndpointPickers are seen just now: while the kind is on its
   *     way out they are not, whatever the API server still says of it
   * @param denied why they can't be seen, where the API server says so; not asked where all is well
   * @return empty when the EndpointPickers that were seen are all that there are
   */
  Optional<Doubt> doubt(
      Observation seen,
      @Nullable String parent,
      boolean watched,
      Supplier<Optional<Verdict>> denied,
      KubernetesClient client) {
    String pool = seen.pool().getMetadata().getUid();
    Boolean before = named.get(pool);
    boolean lost =
        before == null
            ? parent != null && !parent.equals(Names.child(seen.pool().getMetadata().getName()))
            : before;
    if (!seen.pickers().isEmpty()) {
      return certain(pool, true);
    }
    if (!lost && (before != null || seen.own().isEmpty())) {
      return certain(pool, false);
    }
    Duration left = HOLD.minus(missing.since(pool, EndpointPicker.class));
    if (lost && left.isPositive()) {
      return Optional.of(new Doubt(left, null));
    }
    KindLooks.Found kind = kinds.find(EndpointPicker.class, FRESH, client);
    if (kind == KindLooks.Found.THERE && (!lost || (watched && !isNamed(seen.pool(), client)))) {
      Duration hold =
          away.contains(pool) ? BACK.minus(back.since(pool, EndpointPicker.class)) : Duration.ZERO;
      return hold.isPositive() ? Optional.of(new Doubt(hold, AWAITED)) : certain(pool, false);
    }
    back.end(pool);
    if (lost && (kind == KindLooks.Found.MISSING || kind == KindLooks.Found.TERMINATING)) {
      away.add(pool);
    }
    if (left.isPositive()) {
      // An API server that starts lacks kinds for a moment: said once, it is not told.
      return Optional.of(new Doubt(PoolReconciler.LOOK_AGAIN, null));
    }
    Verdict why =
        kind == KindLooks.Found.THERE ? denied.get().orElse(null) : kind.why(EndpointPicker.class);
    return Optional.of(new Doubt(PoolReconciler.LOOK_AGAIN, why));
  }

  private Optional<Doubt> certain(String pool, boolean isNamed) {
    forgetWaits(pool);
    named.put(pool, isNamed);
    return Optional.empty();
  }

  /** The pool is gone. */
  void forget(String pool) {
    forgetWaits(pool);
    named.remove(pool);
  }

  private void forgetWaits(String pool) {
    missing.end(pool);
    back.end(pool);
    away.remove(pool);
  }

  /** A watch whose kind was away sees what came with it again later than others do. */
  private static boolean isNamed(InferencePool pool, KubernetesClient client) {
    try {
      return client
          .resources(EndpointPicker.class)
          .inNamespace(pool.getMetadata().getNamespace())
          .list()
          .getItems()
          .stream()
          .filter(picker -> !picker.isMarkedForDeletion())
          .anyMatch(picker -> pool.getMetadata().getName().equals(PoolNames.of(picker)));
    } catch (KubernetesClientException e) {
      return true;
    }
  }
}
