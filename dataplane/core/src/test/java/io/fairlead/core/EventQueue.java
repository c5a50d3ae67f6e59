package io.fairlead.core;

import java.util.PriorityQueue;
import java.util.function.LongConsumer;

/** What is to happen in virtual time; what is at the same time happens as it was added. */
final class EventQueue {

  private record Event(long at, long order, Runnable run) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
    }
  }

  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long order;

  void add(long time, Runnable run) {
    events.add(new Event(time, order++, run));
  }

  /**
   * Has all happen that is to happen by then, what is added meanwhile included.
   *
   * @param clock told the time before each
   */
  void run(long until, LongConsumer clock) {
    while (!events.isEmpty() && events.peek().at() <= until) {
      Event next = events.remove();
      clock.accept(next.at());
      next.run().run();
    }
  }
}
