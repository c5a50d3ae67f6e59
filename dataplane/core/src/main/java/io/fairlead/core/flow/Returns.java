package io.fairlead.core.flow;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Requests that were refused and told when to come again. One that does keeps its place: it stands
 * where it would if it had waited all the time, before those that came after it was refused. So a
 * promise holds also while more come than can be served. (A call centre that calls back knows this
 * as a virtual queue.)
 *
 * <p>A request is known again by what it asks for. Where several ask for the same, whichever of
 * them comes first has the place.
 */
final class Returns {

  /** Places that are kept for all; whoever is refused beyond comes again as anybody. */
  static final int MOST = 40_000;

  /** A client that comes later than it was told by so much has lost its place. */
  private static final long LATEST = 15_000_000_000L;

  private static final long BETWEEN_SWEEPS = 10_000_000_000L;

  /** Mixes bits (the increment of Steele, Lea and Flood's SplitMix, OOPSLA 2014). */
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private static final Comparator<Place> SOONEST = Place::compareDue;

  /** By what was asked for, the one that is due first before the others. */
  private final Map<Long, PriorityQueue<Place>> kept = new HashMap<>();

  private int size;
  private long sweptAt;

  private record Place(FlowQueue flow, long due, long sequence) {

    private int compareDue(Place other) {
      return Long.signum(due - other.due);
    }

    private boolean isLost(long now) {
      return now - due > LATEST;
    }
  }

  private static long key(FlowQueue flow, long likeness) {
    return likeness ^ (flow.id().hashCode() + flow.priority()) * GOLDEN;
  }

  /**
   * Whether it can keep one more place for the flow: that may have as many as are left, so that
   * none fills those of others. (The dynamic thresholds of Choudhury and Hahne, IEEE/ACM
   * Transactions on Networking 6(2), 1998.)
   */
  boolean hasRoom(FlowQueue flow) {
    return flow.placesKept < MOST - size;
  }

  /**
   * A request was told when to come again.
   *
   * @param now when it was
   * @param likeness the same for requests that ask for the same
   * @param due when it comes, in nanoseconds
   * @param sequence of its place
   */
  void promise(long now, FlowQueue flow, long likeness, long due, long sequence) {
    kept.computeIfAbsent(key(flow, likeness), _ -> new PriorityQueue<>(1, SOONEST))
        .add(new Place(flow, due, sequence));
    size++;
    flow.placesKept++;
    flow.returners.told(now, due);
  }

  /**
   * A request came: takes its place, if one is kept for it and it is not too early.
   *
   * @return the sequence of its place; 0 for none
   */
  long take(long now, FlowQueue flow, long likeness) {
    if (size == 0) {
      return 0;
    }
    Long key = key(flow, likeness);
    PriorityQueue<Place> places = kept.get(key);
    if (places == null) {
      return 0;
    }
    forgetLost(now, places);
    Place first = places.peek();
    long taken = 0;
    if (first != null && now - first.due >= 0) {
      removeFirst(places);
      first.flow.returners.came(now, first.due);
      taken = first.sequence;
    }
    if (places.isEmpty()) {
      kept.remove(key);
    }
    return taken;
  }

  private void forgetLost(long now, PriorityQueue<Place> places) {
    for (Place first = places.peek(); first != null && first.isLost(now); first = places.peek()) {
      removeFirst(places);
    }
  }

  private void removeFirst(PriorityQueue<Place> places) {
    places.remove().flow.placesKept--;
    size--;
  }

  /** Lets go of places whose clients did not come. To be called some ten times a second. */
  void sweep(long now) {
    if (size == 0 || now - sweptAt < BETWEEN_SWEEPS) {
      return;
    }
    sweptAt = now;
    for (Iterator<PriorityQueue<Place>> all = kept.values().iterator(); all.hasNext(); ) {
      PriorityQueue<Place> places = all.next();
      forgetLost(now, places);
      if (places.isEmpty()) {
        all.remove();
      }
    }
  }
}
