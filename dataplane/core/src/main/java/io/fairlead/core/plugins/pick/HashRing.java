package io.fairlead.core.plugins.pick;

import java.util.Arrays;

/**
 * A ring of hashes on which each endpoint has as many points, so that a key belongs to the owner of
 * the first point at or after it. Who joins takes keys from all others alike and moves none between
 * them.
 *
 * <p>An endpoint that has left keeps its points until its slot is another's: who walks on from
 * there finds whom the ring without it would name, and nobody has to be told.
 */
final class HashRing {

  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  /** The low bits of a point say whose it is. */
  private static final int OWNER_BITS = 20;

  private static final long OWNER = (1L << OWNER_BITS) - 1;

  private final int replication;

  /** By slot. */
  private long[] identities = {};

  private boolean[] known = {};
  private boolean stale;

  /** Sorted. Owners are ranks in the order of identities, so that ties are every picker's alike. */
  private long[] points = {};

  private int[] slotOfRank = {};

  HashRing(int replication) {
    this.replication = replication;
  }

  /** Where a number is on the ring. */
  static long position(long number) {
    long z = number;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  void join(int slot, long identity) {
    if (slot >= known.length) {
      int length = Math.max(16, slot + slot / 2 + 1);
      identities = Arrays.copyOf(identities, length);
      known = Arrays.copyOf(known, length);
    }
    if (known[slot] && identities[slot] == identity) {
      return;
    }
    for (int other = 0; other < known.length; other++) {
      // It left and is back in another slot: the one before may be nobody's now.
      known[other] &= identities[other] != identity;
    }
    identities[slot] = identity;
    known[slot] = true;
    stale = true;
  }

  /** How many points there are. */
  int size() {
    if (stale) {
      build();
    }
    return points.length;
  }

  /** The first point at or after a position, from 0 to {@code size() - 1}; the ring isn't empty. */
  int first(long position) {
    int found = Arrays.binarySearch(points, position & ~OWNER);
    int at = found >= 0 ? found : -found - 1;
    return at < points.length ? at : 0;
  }

  /** Slot of the endpoint whose point this is. */
  int slot(int point) {
    return slotOfRank[(int) (points[point] & OWNER)];
  }

  private void build() {
    stale = false;
    int members = 0;
    for (boolean one : known) {
      members += one ? 1 : 0;
    }
    long[] order = new long[members];
    int count = 0;
    for (int slot = 0; slot < known.length; slot++) {
      if (known[slot]) {
        order[count++] = identities[slot];
      }
    }
    Arrays.sort(order);
    slotOfRank = new int[members];
    for (int slot = 0; slot < known.length; slot++) {
      if (known[slot]) {
        slotOfRank[Arrays.binarySearch(order, identities[slot])] = slot;
      }
    }
    points = new long[members * replication];
    for (int rank = 0; rank < members; rank++) {
      long start = position(order[rank]);
      for (int i = 0; i < replication; i++) {
        points[rank * replication + i] = (position(start + i * GOLDEN) & ~OWNER) | rank;
      }
    }
    Arrays.sort(points);
  }
}
