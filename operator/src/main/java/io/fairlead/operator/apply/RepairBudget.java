package io.fairlead.operator.apply;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * How often what is ours, an entry of a pool's status or a child, is put back after others changed
 * or removed it: six times at once, then rarely. Some controllers write it again whenever they see
 * it changed; without a bound the two would write as fast as the API server answers.
 *
 * <p>Safe to use from any thread.
 */
final class RepairBudget {
  static final int AT_ONCE = 6;

  private final Duration oneMore;

  /** When each thing's budget will be whole again. */
  private final Map<String, Instant> whole = new HashMap<>();

  /**
   * @param oneMore how long until there is one more
   */
  RepairBudget(Duration oneMore) {
    this.oneMore = oneMore;
  }

  /**
   * How long to wait for one more.
   *
   * @param what is put back
   * @return empty when there is one to take
   */
  synchronized Optional<Duration> left(String what, Instant now) {
    Duration over = Duration.between(latest(now), due(what, now).plus(oneMore));
    return over.isPositive() ? Optional.of(over) : Optional.empty();
  }

  /** Takes one, of what has one left. */
  synchronized void take(String what, Instant now) {
    Instant after = due(what, now).plus(oneMore);
    whole.values().removeIf(full -> !full.isAfter(now));
    whole.put(what, after);
  }

  private Instant due(String what, Instant now) {
    Instant at = whole.getOrDefault(what, now);
    // No budget is whole later than that, unless the clock was set back meanwhile.
    return at.isAfter(latest(now)) ? latest(now) : at.isBefore(now) ? now : at;
  }

  private Instant latest(Instant now) {
    return now.plus(oneMore.multipliedBy(AT_ONCE));
  }
}
