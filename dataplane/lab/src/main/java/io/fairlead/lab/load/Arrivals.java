package io.fairlead.lab.load;

import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.Traffic;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** A traffic's requests in order of time: those that come anyway, and those that follow others. */
final class Arrivals {

  private final Traffic traffic;
  private final long until;
  private final PriorityQueue<Arrival> following =
      new PriorityQueue<>(Comparator.comparingLong(Arrival::atNanos));
  private @Nullable Arrival next;

  /**
   * Arrivals up to a time.
   *
   * @param until nanoseconds since the start; later ones are left out
   */
  Arrivals(Traffic traffic, long until) {
    this.traffic = traffic;
    this.until = until;
    next = traffic.next();
  }

  /** The next one, or null as long as there is none. */
  @Nullable Arrival peek() {
    Arrival earlier = followerIsFirst() ? following.peek() : next;
    return earlier == null || earlier.atNanos() > until ? null : earlier;
  }

  /** Takes away what {@link #peek} gave. */
  void remove() {
    if (followerIsFirst()) {
      following.poll();
    } else {
      next = traffic.next();
    }
  }

  private boolean followerIsFirst() {
    Arrival follower = following.peek();
    return next == null || (follower != null && follower.atNanos() < next.atNanos());
  }

  /** A request is over. */
  void ended(long now, RequestShape request, boolean served) {
    traffic.ended(now, request, served, following::add);
  }
}
