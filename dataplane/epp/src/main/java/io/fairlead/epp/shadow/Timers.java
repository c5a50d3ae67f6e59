package io.fairlead.epp.shadow;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** What a thread is to do later. On that thread only. */
final class Timers {

  private record Timer(long at, long order, Runnable task) {}

  private final PriorityQueue<Timer> waiting =
      new PriorityQueue<>(Comparator.comparingLong(Timer::at).thenComparingLong(Timer::order));
  private long order;

  void add(long at, Runnable task) {
    waiting.add(new Timer(at, order++, task));
  }

  /** Takes the task that is due first; null if none is. */
  @Nullable Runnable poll(long now) {
    Timer first = waiting.peek();
    if (first == null || first.at() > now) {
      return null;
    }
    waiting.remove();
    return first.task();
  }

  /** Nanoseconds until the next is due, at most {@code most}. */
  long until(long now, long most) {
    Timer first = waiting.peek();
    return first == null ? most : Math.clamp(first.at() - now, 0, most);
  }
}
