package io.fairlead.core.flow;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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

  /** Places that are kept; whoever is refused beyond comes again as anybody. */
  static final int MOST = 20_000;

  /** A client that comes later than it was told by so much has lost its place. */
  private static final long LATEST = 15_000_000_000L;

  private static final long BETWEEN_SWEEPS = 10_000_000_000L;

  /** Mixes bits (the increment of Steele, Lea and Flood's SplitMix, OOPSLA 2014). */
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  /** By what was asked for, each with further ones that are due later. */
  private final Map<Long, Place> kept = new HashMap<>();

  private int size;
  private long sweptAt;

  private static final class Place {
    final long due;
    final long sequence;
    @Nullable Place next;

    /** Of those that ask for the same; known by the first of them. */
    Place last = this;

    Place(long due, long sequence) {
      this.due = due;
      this.sequence = sequence;
    }
  }

  private static long key(FlowQueue flow, long likeness) {
    return likeness ^ (flow.id().hashCode() + flow.priority()) * GOLDEN;
  }

  /** Whether it can keep one more place. */
  boolean hasRoom() {
    return size < MOST;
  }

  /**
   * A request was told when to come again.
   *
   * @param likeness the same for requests that ask for the same
   * @param due when it comes, in nanoseconds
   * @param sequence of its place
   */
  void promise(FlowQueue flow, long likeness, long due, long sequence) {
    Place place = new Place(due, sequence);
    Place first = kept.putIfAbsent(key(flow, likeness), place);
    if (first != null) {
      first.last.next = place;
      first.last = place;
    }
    size++;
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
    Place first = kept.get(key);
    while (first != null && isLost(now, first)) {
      first = drop(key, first);
    }
    if (first == null || now - first.due < 0) {
      return 0;
    }
    drop(key, first);
    return first.sequence;
  }

  private static boolean isLost(long now, Place place) {
    return now - place.due > LATEST;
  }

  private @Nullable Place drop(Long key, Place first) {
    size--;
    Place next = first.next;
    if (next == null) {
      kept.remove(key);
      return null;
    }
    next.last = first.last;
    kept.put(key, next);
    return next;
  }

  /** Lets go of places whose clients did not come. To be called some ten times a second. */
  void sweep(long now) {
    if (size == 0 || now - sweptAt < BETWEEN_SWEEPS) {
      return;
    }
    sweptAt = now;
    for (Iterator<Place> all = kept.values().iterator(); all.hasNext(); ) {
      Place place = all.next();
      // Of several the last is due last: the others go with it, or as they are asked for.
      if (isLost(now, place.last)) {
        for (Place each = place; each != null; each = each.next) {
          size--;
        }
        all.remove();
      }
    }
  }
}
