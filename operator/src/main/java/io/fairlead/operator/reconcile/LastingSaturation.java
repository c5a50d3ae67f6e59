package io.fairlead.operator.reconcile;

import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a pool's models say of its saturation. Each change of it is a write of every model, and a
 * pool at its limit is full and has room several times a minute; so models are told what has
 * lasted. The pool and its picker say how it is.
 *
 * <p>Safe to use from any thread.
 */
final class LastingSaturation {
  private final Duration lasts;
  private final Waits changes;
  private final Map<String, Verdict> told = new ConcurrentHashMap<>();

  /**
   * @param lasts how long it has to be so
   * @param nanos a clock that never jumps
   */
  LastingSaturation(Duration lasts, LongSupplier nanos) {
    this.lasts = lasts;
    changes = new Waits(nanos);
  }

  /**
   * @param verdict for the models
   * @param left until they are told how it is now, if it stays so; null when they are
   */
  record Told(Verdict verdict, @Nullable Duration left) {}

  /**
   * What to tell the models.
   *
   * @param pool its UID
   * @param now how it is
   */
  Told of(String pool, Verdict now) {
    Verdict before = told.get(pool);
    // To or from what is not known, models change in more than this.
    if (before != null && !before.equals(now) && isKnown(before) && isKnown(now)) {
      Duration left = lasts.minus(changes.since(pool, now));
      if (left.isPositive()) {
        return new Told(before, left);
      }
    }
    changes.end(pool);
    told.put(pool, now);
    return new Told(now, null);
  }

  /** The pool is gone. */
  void forget(String pool) {
    changes.end(pool);
    told.remove(pool);
  }

  private static boolean isKnown(Verdict verdict) {
    return verdict.isTrue() || verdict.isFalse();
  }
}
