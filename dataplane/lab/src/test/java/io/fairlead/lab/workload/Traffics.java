package io.fairlead.lab.workload;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.ToLongFunction;

/** Plays a workload's clients with servers that take as long as a test wants. */
final class Traffics {

  private Traffics() {}

  /** What a run looked like: arrivals in order of time, and the most requests in flight at once. */
  record Run(List<Arrival> arrivals, int most) {

    List<RequestShape> requests() {
      return arrivals.stream().map(Arrival::request).toList();
    }
  }

  private record End(long at, RequestShape request) {}

  /** Plays until {@code count} requests have arrived or none is left; all are served. */
  static Run play(Traffic traffic, int count, ToLongFunction<RequestShape> serviceNanos) {
    var due = new PriorityQueue<Arrival>(Comparator.comparingLong(Arrival::atNanos));
    var ends = new PriorityQueue<End>(Comparator.comparingLong(End::at));
    List<Arrival> arrivals = new ArrayList<>();
    Arrival next = traffic.next();
    int most = 0;
    while (arrivals.size() < count) {
      if (next != null) {
        due.add(next);
        next = null;
      }
      long arrives = due.isEmpty() ? Long.MAX_VALUE : due.peek().atNanos();
      if (!ends.isEmpty() && ends.peek().at() <= arrives) {
        End end = ends.remove();
        traffic.ended(
            end.at(),
            end.request(),
            true,
            follow -> {
              if (follow.atNanos() < end.at()) {
                throw new AssertionError(follow.atNanos() + " is before now, " + end.at());
              }
              due.add(follow);
            });
      } else if (due.isEmpty()) {
        break;
      } else {
        Arrival arrival = due.remove();
        arrivals.add(arrival);
        ends.add(
            new End(
                arrival.atNanos() + serviceNanos.applyAsLong(arrival.request()),
                arrival.request()));
        most = Math.max(most, ends.size());
        next = traffic.next();
      }
    }
    return new Run(arrivals, most);
  }

  /** Blocks that both begin with. */
  static int shared(RequestShape first, RequestShape second) {
    int differs = Arrays.mismatch(first.blocks(), second.blocks());
    return differs < 0 ? first.blocks().length : differs;
  }
}
