package io.fairlead.operator.apply;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells of what comes to the one and the other in turn, several times a minute: of both at once,
 * then rarely, and then what it is by that time. So what was told last is never long out of date.
 *
 * <p>Safe to use from any thread.
 */
final class Turns {
  private final Budget budget;
  private final BiConsumer<Runnable, Duration> later;

  /** By what is told of; of each of these something waits until there is one more to tell. */
  private final Map<String, Untold> untold = new HashMap<>();

  /**
   * @param telling null when it is again as it was told last
   */
  private record Untold(@Nullable Runnable telling) {}

  /**
   * @param oneMore how long until it is told once more
   * @param nanos a clock that never jumps
   * @param later runs something after this time
   */
  Turns(Duration oneMore, LongSupplier nanos, BiConsumer<Runnable, Duration> later) {
    budget = new Budget(2, oneMore, nanos);
    this.later = later;
  }

  /** It has come to the other. */
  synchronized void turn(String of, Runnable telling) {
    Untold waiting = untold.get(of);
    if (waiting != null) {
      untold.put(of, new Untold(waiting.telling() == null ? telling : null));
      return;
    }
    Optional<Duration> left = budget.left(of);
    if (left.isEmpty()) {
      budget.take(of);
      telling.run();
    } else {
      untold.put(of, new Untold(telling));
      later.accept(() -> tellOf(of), left.get());
    }
  }

  private synchronized void tellOf(String of) {
    Untold waiting = untold.remove(of);
    Runnable telling = waiting == null ? null : waiting.telling();
    if (telling != null) {
      budget.take(of);
      telling.run();
    }
  }
}
