package io.fairlead.lab.simulator;

import java.util.PriorityQueue;

/**
 * What is to happen at given times; what is to happen at the same time happens in order of entry.
 */
final class Timeline {

  /** When there is nothing to come. */
  static final long NEVER = Long.MAX_VALUE;

  private static final double NANOS_PER_SECOND = 1e9;

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

  /** A time of a run as events have it. */
  static long nanos(double seconds) {
    return (long) (seconds * NANOS_PER_SECOND);
  }

  void at(long time, Event event) {
    entries.add(new Entry(time, entered++, event));
  }

  /** At once, if it is time: what is to come comes after all that happens now. */
  void nowOrAt(long now, long time, Event event) {
    if (time <= now) {
      event.happen(now);
    } else {
      at(time, event);
    }
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
