package io.fairlead.operator.apply;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * How often something is done or told again that others, or chance, undo or change: a few times at
 * once, then rarely. Such as to put back an entry of a pool's status: some controllers write it
 * again whenever they see it changed; without a bound the two would write as fast as the API server
 * answers.
 *
 * <p>Safe to use from any thread.
 */
final class Budget {
  /** How often what is ours, an entry of a pool's status or a child, is put back at once. */
  static final int REPAIRS = 6;

  private final int atOnce;
  private final long oneMore;
  private final LongSupplier nanos;

  /** When each thing's budget will be whole again. */
  private final Map<String, Long> whole = new HashMap<>();

  /**
   * @param atOnce how often before it is done rarely
   * @param oneMore how long until there is one more
   * @param nanos a clock that never jumps
   */
  Budget(int atOnce, Duration oneMore, LongSupplier nanos) {
    this.atOnce = atOnce;
    this.oneMore = oneMore.toNanos();
    this.nanos = nanos;
  }

  /**
   * How long to wait for one more.
   *
   * @param what is done
   * @return empty when there is one to take
   */
  synchronized Optional<Duration> left(String what) {
    long over = due(what, nanos.getAsLong()) - (atOnce - 1) * oneMore;
    return over > 0 ? Optional.of(Duration.ofNanos(over)) : Optional.empty();
  }

  /** Takes one; of what has none left, nobody waits longer for that. */
  synchronized void take(String what) {
    long now = nanos.getAsLong();
    long after = Math.min(due(what, now) + oneMore, atOnce * oneMore);
    whole.values().removeIf(full -> full - now <= 0);
    whole.put(what, now + after);
  }

  /** How long until it is whole. */
  private long due(String what, long now) {
    return Math.max(0, whole.getOrDefault(what, now) - now);
  }
}
