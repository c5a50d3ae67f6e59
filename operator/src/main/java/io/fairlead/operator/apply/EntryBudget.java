package io.fairlead.operator.apply;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * How often our entry of a pool's status is put back after others removed it: six times at once,
 * then once in five minutes. Some controllers replace the whole list whenever they see it changed;
 * without a bound the two would write as fast as the API server answers.
 *
 * <p>Safe to use from any thread.
 */
final class EntryBudget {
  static final int AT_ONCE = 6;
  static final Duration ONE_MORE = Duration.ofMinutes(5);

  /** When each pool's budget will be whole again. */
  private final Map<String, Instant> whole = new HashMap<>();

  /**
   * Takes one.
   *
   * @param pool its UID
   * @return how long to wait; empty when there was one to take
   */
  synchronized Optional<Duration> take(String pool, Instant now) {
    Instant latest = now.plus(ONE_MORE.multipliedBy(AT_ONCE));
    Instant at = whole.getOrDefault(pool, now);
    // No budget is whole later than that, unless the clock was set back meanwhile.
    Instant due = at.isAfter(latest) ? latest : at.isBefore(now) ? now : at;
    Instant after = due.plus(ONE_MORE);
    Duration over = Duration.between(latest, after);
    if (over.isPositive()) {
      return Optional.of(over);
    }
    whole.values().removeIf(full -> !full.isAfter(now));
    whole.put(pool, after);
    return Optional.empty();
  }
}
