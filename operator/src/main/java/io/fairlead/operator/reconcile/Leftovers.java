package io.fairlead.operator.reconcile;

import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Tells what stays of a pool's picker that nobody wants any more, since the API server does not let
 * the operator delete it. The pool has no condition of ours then that could say so.
 *
 * <p>Safe to use from any thread.
 */
final class Leftovers {
  /** How long an API server keeps an Event, unless it is told otherwise. */
  private static final Duration KEPT = Duration.ofHours(1);

  private final Events events;
  private final LongSupplier nanos;

  /** By UID of the pool. */
  private final Map<String, Told> told = new ConcurrentHashMap<>();

  private record Told(String message, long at) {}

  /**
   * @param nanos a clock that never jumps
   */
  Leftovers(Events events, LongSupplier nanos) {
    this.events = events;
    this.nanos = nanos;
  }

  /** Tells it, unless the same is told already. */
  void tell(InferencePool pool, ChildFailures stuck) {
    String message = Verdict.all(stuck.verdicts()).message();
    long now = nanos.getAsLong();
    told.compute(
        pool.getMetadata().getUid(),
        (uid, last) -> {
          if (last != null && last.message().equals(message) && now - last.at() < KEPT.toNanos()) {
            return last;
          }
          events.warn(pool, Notice.NOT_DELETED, message);
          return new Told(message, now);
        });
  }

  /**
   * Nothing is left, or all of it is wanted again.
   *
   * @param pool its UID
   */
  void forget(String pool) {
    told.remove(pool);
  }
}
