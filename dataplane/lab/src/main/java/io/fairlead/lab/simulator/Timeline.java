package io.fairlead.lab.simulator;

import java.util.PriorityQueue;

/**
 * What is to happen at given times; what is to happen at the same time happens in order of entry.
 */
final class Timeline {

  /** When there is nothing to come. */
  static final long NEVER = Long.MAX_VALUE;

  private final PriorityQueue<Entry> entries = new PriorityQueue<>();
  private long entered;

  /** What happens. */
  interface Event {
    void happen(long now);
  }

  private record Entry(long at, long order, Event event) implements Comparable<Entry> {

    @Override
    public int compareTo(Entry other) {
      return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
    }
  }

  void at(long time, Event event) {
    entries.add(new Entry(time, entered++, event));
  }

  long next() {
    Entry first = entries.peek();
    return first == null ? NEVER : first.at;
  }

  /** Lets the next event happen; there must be one. */
  void step() {
    Entry first = entries.remove();
    first.event.happen(first.at);
  }
}
