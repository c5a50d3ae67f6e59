package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Children that others change or delete and that are put back: each is told of, and who does so
 * again and again is put right rarely.
 *
 * <p>Safe to use from any thread.
 */
final class Repairs {
  private static final Duration TELL_AGAIN = Duration.ofMinutes(5);

  private final Budget budget;
  private final BiConsumer<InferencePool, String> listener;

  /** Who undoes what is applied of a child, for as long as it is put back rarely for that. */
  private final Map<ChildKey, String> undoing = new ConcurrentHashMap<>();

  /** When it was told last that a child was put right, by a clock that doesn't jump. */
  private final Map<ChildKey, Long> told = new ConcurrentHashMap<>();

  /**
   * @param oneMore how long until a child is put back once more that somebody undoes all the while
   * @param listener told of each child that is as it should be again: the pool, and what happened
   */
  Repairs(Duration oneMore, BiConsumer<InferencePool, String> listener) {
    budget = new Budget(Budget.REPAIRS, oneMore, System::nanoTime);
    this.listener = listener;
  }

  /** Another thing is wanted of a child than what somebody undoes. */
  void wantedAnew(ChildKey key) {
    undoing.remove(key);
  }

  /** Why a child is not put back just now, or was for the last time in a while. */
  Optional<Verdict> notPutBack(ChildKey key, HasMetadata child) {
    String who = undoing.get(key);
    if (who == null) {
      return Optional.empty();
    }
    if (budget.left(key.toString()).isEmpty()) {
      undoing.remove(key);
      return Optional.empty();
    }
    return Optional.of(
        Verdict.no(
            Reason.FIELD_MANAGER_CONFLICT,
            "%s is changed by %s again and again, and put back rarely from now on; have it leave the object alone, or change the EndpointPicker instead"
                .formatted(Refusals.describe(child), who)));
  }

  /**
   * A child was put back.
   *
   * @param actual as it was before; null where it was deleted
   */
  void repaired(InferencePool pool, HasMetadata child, @Nullable HasMetadata actual) {
    ChildKey key = ChildKey.of(pool, child);
    budget.take(key.toString());
    if (budget.left(key.toString()).isPresent()) {
      undoing.put(
          key,
          actual == null
              ? "somebody who deletes it"
              : other(actual).orElse("somebody, as where two operators serve the pool,"));
    }
    if (mayTell(key)) {
      listener.accept(
          pool,
          "%s was %s and is as it should be again"
              .formatted(
                  Refusals.describe(child),
                  actual == null ? "deleted" : "changed by " + other(actual).orElse("somebody")));
    }
  }

  /**
   * The pool is gone, or served no more.
   *
   * @param uid the pool's
   */
  void forget(String uid) {
    undoing.keySet().removeIf(key -> key.pool().equals(uid));
    told.keySet().removeIf(key -> key.pool().equals(uid));
  }

  /** Somebody who changes it again and again need not be told of as often. */
  private boolean mayTell(ChildKey key) {
    long now = System.nanoTime();
    Long last = told.get(key);
    if (last != null && now - last < TELL_AGAIN.toNanos()) {
      return false;
    }
    told.put(key, now);
    return true;
  }

  /**
   * Who of others wrote it last; autoscalers and {@code kubectl scale} do so by a subresource.
   * Empty where it is none but ourselves, or somebody who only took fields away.
   */
  private static Optional<String> other(HasMetadata actual) {
    return actual.getMetadata().getManagedFields().stream()
        .filter(fields -> !String.valueOf(fields.getManager()).startsWith("fairlead"))
        .filter(fields -> !"status".equals(fields.getSubresource()))
        .max(Comparator.comparing(fields -> String.valueOf(fields.getTime())))
        .map(ManagedFieldsEntry::getManager);
  }
}
