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
   * How long to wait for one more.
   *
   * @param pool its UID
   * @return empty when there is one to take
   */
  synchronized Optional<Duration> left(String pool, Instant now) {
    Duration over = Duration.between(latest(now), due(pool, now).plus(ONE_MORE));
    return over.isPositive() ? Optional.of(over) : Optional.empty();
  }

  /** Takes one, of a pool that has one left. */
  synchronized void take(String pool, Instant now) {
    Instant after = due(pool, now).plus(ONE_MORE);
    whole.values().removeIf(full -> !full.isAfter(now));
    whole.put(pool, after);
  }

  private Instant due(String pool, Instant now) {
    Instant at = whole.getOrDefault(pool, now);
    // No budget is whole later than that, unless the clock was set back meanwhile.
    return at.isAfter(latest(now)) ? latest(now) : at.isBefore(now) ? now : at;
  }

  private static Instant latest(Instant now) {
    return now.plus(ONE_MORE.multipliedBy(AT_ONCE));
  }
}
