package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fairlead.operator.apply.StatusSteps;
import io.fairlead.operator.observe.Observation;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What was last seen of each pool that was as it should be, and said so. What a look writes comes
 * back by the informers and wakes the pool; who sees nothing else than what that look saw and left
 * need not decide all of it again.
 *
 * <p>Safe to use from any thread.
 */
final class SettledLooks {
  /** After that it is decided anew: not all that matters is seen, such as what admission does. */
  static final Duration LASTS = Duration.ofSeconds(10);

  private final LongSupplier nanos;
  private final StatusSteps steps;

  /** By UID of the pool. */
  private final Map<String, Look> looks = new ConcurrentHashMap<>();

  private record Look(Seen seen, Map<String, String> left, long at) {}

  /**
   * @param nanos a clock that never jumps
   * @param steps what was written of statuses
   */
  SettledLooks(LongSupplier nanos, StatusSteps steps) {
    this.nanos = nanos;
    this.steps = steps;
  }

  /**
   * All that a look decides by.
   *
   * @param versions of objects, by their UIDs
   * @param superseded UIDs of those of them that don't count: none changes when that does
   * @param beside what else is known
   */
  record Seen(Map<String, String> versions, Set<String> superseded, List<Object> beside) {
    static Seen of(Observation seen, Object... beside) {
      Map<String, String> versions = new HashMap<>();
      objects(seen)
          .map(HasMetadata::getMetadata)
          .forEach(object -> versions.put(object.getUid(), object.getResourceVersion()));
      return new Seen(
          versions,
          seen.superseded().stream()
              .map(object -> object.getMetadata().getUid())
              .collect(Collectors.toUnmodifiableSet()),
          Stream.concat(
                  Stream.of(seen.unread(), seen.selectors(), seen.selectsAnotherPicker()),
                  Stream.of(beside))
              .toList());
    }

    private static Stream<HasMetadata> objects(Observation seen) {
      return Stream.of(
              List.of(seen.pool()),
              seen.pickers(),
              seen.leaving(),
              seen.models(),
              seen.upstream().all().toList(),
              seen.superseded(),
              Optional.ofNullable(seen.service()).stream().toList(),
              seen.children(),
              seen.pods(),
              seen.leases())
          .flatMap(List::stream);
    }
  }

  /** The pool is as it should be, and all statuses say so. */
  void settled(String pool, Seen seen) {
    Map<String, String> left = new HashMap<>();
    seen.versions()
        .forEach((uid, version) -> steps.after(uid, version).ifPresent(to -> left.put(uid, to)));
    looks.put(pool, new Look(seen, left, nanos.getAsLong()));
  }

  /** The pool has to be looked at whatever is seen. */
  void unsettled(String pool) {
    looks.remove(pool);
  }

  /** Whether no more is seen than when the pool was settled a moment ago. */
  boolean isSettled(String pool, Seen now) {
    Look look = looks.get(pool);
    return look != null
        && nanos.getAsLong() - look.at() < LASTS.toNanos()
        && look.seen().beside().equals(now.beside())
        && look.seen().superseded().equals(now.superseded())
        && look.seen().versions().keySet().equals(now.versions().keySet())
        && now.versions().entrySet().stream()
            .allMatch(
                object ->
                    object.getValue().equals(look.seen().versions().get(object.getKey()))
                        || object.getValue().equals(look.left().get(object.getKey())));
  }
}
