package io.fairlead.operator.reconcile;

import io.fairlead.operator.apply.ChildFailure.Outlook;
import io.fairlead.operator.status.Reason;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * When children that could not be applied are tried again, and when that is told.
 *
 * <p>Safe to use from any thread.
 */
final class Retries {
  /** How soon where there is room in a moment, or what was refused may pass by itself. */
  static final Duration CONTENDED = Duration.ofMillis(300);

  /** How soon what the API server refused is tried again, when nothing changes before. */
  static final Duration REFUSED = Duration.ofSeconds(15);

  /** How soon at first where it failed: that passes by itself. */
  private static final Duration FAILED = Duration.ofSeconds(1);

  /** How long a conflict or too many requests may last before they are told. */
  private static final Duration PASSING = Duration.ofSeconds(1);

  private final Waits failing;

  /**
   * @param nanos a clock that never jumps
   */
  Retries(LongSupplier nanos) {
    failing = new Waits(nanos);
  }

  /**
   * Whether to try again before anything is told: some were not tried yet, or were refused for what
   * has not lasted.
   *
   * @param pool its UID
   */
  boolean beforeTelling(String pool, ChildFailures failures) {
    return failures.has(Outlook.COMES)
        || (failures.has(Outlook.MAY_PASS)
            && failing.since(pool, Reason.API_SERVER_ERROR).compareTo(PASSING) < 0);
  }

  /**
   * When to try again what could not be applied.
   *
   * @param pool its UID
   * @return empty when all could
   */
  Optional<Duration> after(String pool, ChildFailures failures) {
    if (!failures.has(Reason.API_SERVER_ERROR)) {
      failing.end(pool);
      return failures.isEmpty() ? Optional.empty() : Optional.of(REFUSED);
    }
    Duration half = failing.since(pool, Reason.API_SERVER_ERROR).dividedBy(2);
    Duration soon = half.compareTo(FAILED) < 0 ? FAILED : half;
    return Optional.of(soon.compareTo(REFUSED) < 0 ? soon : REFUSED);
  }
}
