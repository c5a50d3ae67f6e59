package io.fairlead.operator.reconcile;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * How long pools have waited for something, by a clock that doesn't jump as those of machines do.
 *
 * <p>Safe to use from any thread.
 */
final class Waits {
  /** Nothing is usually waited for so long: a pool that was deleted meanwhile is forgotten. */
  private static final Duration FORGOTTEN = Duration.ofHours(1);

  private final LongSupplier nanos;
  private final Duration forgotten;

  /** By UID of the pool, or that and a part of it. */
  private final Map<String, Wait> begun = new HashMap<>();

  private record Wait(Object what, long at) {}

  /**
   * @param nanos {@link System#nanoTime}, or a test's
   */
  Waits(LongSupplier nanos) {
    this(nanos, FORGOTTEN);
  }

  /**
   * @param nanos {@link System#nanoTime}, or a test's
   * @param forgotten after which time a wait may begin anew, for want of an end
   */
  Waits(LongSupplier nanos, Duration forgotten) {
    this.nanos = nanos;
    this.forgotten = forgotten;
  }

  /**
   * For what is waited for so long, and may be asked for no sooner.
   *
   * @param nanos {@link System#nanoTime}, or a test's
   */
  static Waits ofUpTo(Duration longest, LongSupplier nanos) {
    return new Waits(nanos, longest.plus(FORGOTTEN));
  }

  /**
   * How long the pool has waited for this, which begins now where it waited for nothing, or for
   * something else.
   *
   * @return zero when it begins
   */
  synchronized Duration since(String pool, Object what) {
    long now = nanos.getAsLong();
    Wait wait = begun.get(pool);
    if (wait == null || !wait.what().equals(what)) {
      begun.values().removeIf(other -> now - other.at() > forgotten.toNanos());
      wait = new Wait(what, now);
      begun.put(pool, wait);
    }
    return Duration.ofNanos(now - wait.at());
  }

  /**
   * Of the pool's parts, whose keys begin with the pool's and a slash, only these wait still.
   *
   * @param still their keys
   */
  synchronized void endOthers(String pool, Set<String> still) {
    begun.keySet().removeIf(key -> key.startsWith(pool + "/") && !still.contains(key));
  }

  /** The pool waits no more. */
  synchronized void end(String pool) {
    begun.remove(pool);
  }
}
