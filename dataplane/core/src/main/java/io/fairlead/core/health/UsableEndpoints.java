package io.fairlead.core.health;

import io.fairlead.core.HealthState;

/**
 * Which endpoints get requests, and which of them a part only: worked out when something has
 * changed, so that a decision reads arrays. Never less than half of the pool.
 */
final class UsableEndpoints {

  /** One that nothing is known of waits so long for its first word, while others are known. */
  private static final long FIRST_WORD = 1_000_000_000;

  /** The places of those that get requests, in order. */
  private int[] places = {};

  private int count;

  /** Of these, those in use that are left out of the draw for a good part of requests. */
  private int spared;

  /** By place: whether it is among the usable ones. */
  private boolean[] listed = {};

  private boolean whole = true;
  private boolean stale;

  /** Something is otherwise than before. */
  void changed() {
    stale = true;
  }

  /** Time has passed: failures count less, and strangers have waited. */
  void age() {
    stale |= !whole;
  }

  /** Whether all endpoints get requests, none of them fewer than the others. */
  boolean whole(long now, EndpointHealth[] endpoints) {
    if (stale) {
      refresh(now, endpoints);
    }
    return whole;
  }

  int count() {
    return count;
  }

  int spared() {
    return spared;
  }

  int place(int index) {
    return places[index];
  }

  boolean lists(int place) {
    return listed[place];
  }

  private void refresh(long now, EndpointHealth[] endpoints) {
    stale = false;
    if (places.length < endpoints.length) {
      places = new int[endpoints.length + endpoints.length / 2];
      listed = new boolean[places.length];
    }
    int strangers = 0;
    for (EndpointHealth endpoint : endpoints) {
      endpoint.estimate().age(now);
      strangers += isStranger(now, endpoint) ? 1 : 0;
    }
    // While most are strangers, as when the picker has just begun, all are used.
    boolean wait = strangers <= endpoints.length / 2;
    count = 0;
    int left = 0;
    for (int place = 0; place < endpoints.length; place++) {
      EndpointHealth endpoint = endpoints[place];
      boolean stays = endpoint.state == HealthState.OUT || (wait && isStranger(now, endpoint));
      listed[place] = !stays;
      left += stays ? 0 : 1;
    }
    readmit(endpoints, endpoints.length - endpoints.length / 2 - left);
    double least = Double.POSITIVE_INFINITY;
    for (int place = 0; place < endpoints.length; place++) {
      if (listed[place]) {
        places[count++] = place;
        least = Math.min(least, endpoints[place].risk());
      }
    }
    whole = count == endpoints.length;
    spared = 0;
    for (int i = 0; i < count; i++) {
      EndpointHealth endpoint = endpoints[places[i]];
      // Of requests, beside an endpoint that is as likely to fail them as the best is.
      endpoint.share = least / endpoint.risk();
      boolean inUse = endpoint.state == HealthState.IN_USE;
      spared += inUse && PoolHealth.isSpared(endpoint.share) ? 1 : 0;
      whole &= endpoint.share == 1 && inUse;
    }
  }

  /** Nothing has been heard of it yet, and soon something should. */
  private static boolean isStranger(long now, EndpointHealth endpoint) {
    return !endpoint.heard && now - endpoint.cameAt < FIRST_WORD;
  }

  /** Lists so many of those that are not, the least likely to fail first. */
  private void readmit(EndpointHealth[] endpoints, int missing) {
    if (missing <= 0) {
      return;
    }
    // "places" is not in use yet: the others, of which the best are to come first.
    int others = 0;
    for (int place = 0; place < endpoints.length; place++) {
      if (!listed[place]) {
        places[others++] = place;
      }
    }
    bestFirst(endpoints, others, missing);
    for (int i = 0; i < missing; i++) {
      listed[places[i]] = true;
    }
  }

  /**
   * Orders the first so many places as far as that the best of them come first, in any order.
   * (Hoare, "Algorithm 65: Find", Communications of the ACM 4(7), 1961.) All may be out at once,
   * and this is worked out anew at each of their failures: a sort would take too long.
   */
  private void bestFirst(EndpointHealth[] endpoints, int size, int best) {
    int from = 0;
    int to = size - 1;
    while (from < to) {
      int pivot = places[(from + to) >>> 1];
      int low = from;
      int high = to;
      while (low <= high) {
        while (before(endpoints, places[low], pivot)) {
          low++;
        }
        while (before(endpoints, pivot, places[high])) {
          high--;
        }
        if (low <= high) {
          int swapped = places[low];
          places[low++] = places[high];
          places[high--] = swapped;
        }
      }
      if (best <= high) {
        to = high;
      } else if (best > low) {
        from = low;
      } else {
        return;
      }
    }
  }

  /** Of equals the one with the lower place comes first, so that replays choose the same. */
  private static boolean before(EndpointHealth[] endpoints, int place, int other) {
    EndpointHealth one = endpoints[place];
    EndpointHealth two = endpoints[other];
    return better(one, two) || (place < other && !better(two, one));
  }

  /**
   * One that is not out before one that is; one that listens before one that does not; one that
   * answers some before one that says nothing at all, of which no failure is known as its requests
   * still wait; then the one that fails less.
   */
  private static boolean better(EndpointHealth one, EndpointHealth other) {
    boolean out = one.state == HealthState.OUT;
    if (out != (other.state == HealthState.OUT)) {
      return !out;
    }
    if (one.unreachable != other.unreachable) {
      return other.unreachable;
    }
    if (isMute(one) != isMute(other)) {
      return isMute(other);
    }
    return one.failing() < other.failing();
  }

  private static boolean isMute(EndpointHealth endpoint) {
    return endpoint.silent || endpoint.lifeless;
  }
}
