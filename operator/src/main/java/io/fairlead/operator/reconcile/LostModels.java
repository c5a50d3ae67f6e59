package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Whether it was somebody's wish that models of a pool are gone. When the kind is deleted, all
 * InferenceModels are, and pickers must not lose all that they serve for that: it stays in their
 * config until the kind is back.
 *
 * <p>Safe to use from any thread.
 */
final class LostModels {
  /**
   * How long what is gone counts still before the kind is asked for: the first objects of a kind
   * that is deleted go while the API server still answers as if it stayed.
   */
  private static final Duration HOLD = Duration.ofMillis(200);

  /** Less than is waited before. */
  private static final Duration FRESH = Duration.ofMillis(100);

  /**
   * How long it counts still after the kind was away: who makes a kind anew makes its objects after
   * it.
   */
  private static final Duration BACK = Duration.ofSeconds(10);

  private static final Verdict UNSEEN =
      Verdict.pending(
          "InferenceModels went while changes were not seen, and count for ten seconds more, in case their kind was made anew; wait");

  private static final Verdict AWAITED =
      Verdict.pending(
          "InferenceModels went with their kind, which is back, and are waited for, ten seconds at most; apply them");

  private final KindLooks kinds;
  private final Waits gone;
  private final Waits back;

  /** By UID of the pool, the models that named it when that was last certain, by their UIDs. */
  private final Map<String, Map<String, String>> named = new ConcurrentHashMap<>();

  /**
   * By UID of the pool, what to tell where models of it went while the kind was away, or while it
   * was not watched and so may have been.
   */
  private final Map<String, Verdict> away = new ConcurrentHashMap<>();

  /**
   * @param nanos a clock that never jumps
   * @param kinds shared with whoever else asks for kinds
   */
  LostModels(LongSupplier nanos, KindLooks kinds) {
    this.kinds = kinds;
    this.gone = new Waits(nanos);
    this.back = new Waits(nanos);
  }

  /**
   * To be asked before it is decided what a pool's config holds.
   *
   * @param watched whether changes of models are seen just now
   * @return empty when the models that were seen are all that there are
   */
  Optional<Doubt> doubt(Observation seen, boolean watched, KubernetesClient client) {
    String pool = seen.pool().getMetadata().getUid();
    Map<String, String> now =
        seen.models().stream()
            .filter(model -> !model.isMarkedForDeletion())
            .map(HasMetadata::getMetadata)
            .collect(Collectors.toUnmodifiableMap(ObjectMeta::getUid, ObjectMeta::getName));
    Map<String, String> before = named.getOrDefault(pool, Map.of());
    if (now.keySet().containsAll(before.keySet())) {
      return certain(pool, now);
    }
    Duration left = HOLD.minus(gone.since(pool, InferenceModel.class));
    if (left.isPositive()) {
      return Optional.of(new Doubt(left, null));
    }
    KindLooks.Found kind = kinds.find(InferenceModel.class, FRESH, client);
    // A watch whose kind was away sees what came with it again later than others do.
    if (kind == KindLooks.Found.THERE && watched) {
      Verdict told = away.get(pool);
      Duration hold =
          told == null || now.values().containsAll(before.values())
              ? Duration.ZERO
              : BACK.minus(back.since(pool, InferenceModel.class));
      return hold.isPositive() ? Optional.of(new Doubt(hold, told)) : certain(pool, now);
    }
    back.end(pool);
    switch (kind) {
      case THERE -> away.putIfAbsent(pool, UNSEEN);
      case TERMINATING, MISSING -> away.put(pool, AWAITED);
      case UNKNOWN -> {}
    }
    Verdict why = kind.why(InferenceModel.class);
    return Optional.of(
        new Doubt(
            PoolReconciler.LOOK_AGAIN,
            why == null
                ? Verdict.pending("It is not known just now which InferenceModels there are; wait")
                : why));
  }

  private Optional<Doubt> certain(String pool, Map<String, String> models) {
    forgetWaits(pool);
    named.put(pool, models);
    return Optional.empty();
  }

  /** The pool is gone, or served no more. */
  void forget(String pool) {
    forgetWaits(pool);
    named.remove(pool);
  }

  private void forgetWaits(String pool) {
    gone.end(pool);
    back.end(pool);
    away.remove(pool);
  }
}
