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

  /** Identities of those who have points, by rank. */
  private long[] members = {};

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

  /**
   * Sorts only the points of those who have joined, and puts them between the others, which stay in
   * their order: members' ranks may change, but not which of two is the lower.
   */
  private void build() {
    stale = false;
    long[] before = members;
    members = sortedMembers();
    slotOfRank = new int[members.length];
    for (int slot = 0; slot < known.length; slot++) {
      if (known[slot]) {
        slotOfRank[Arrays.binarySearch(members, identities[slot])] = slot;
      }
    }
    boolean[] stays = new boolean[members.length];
    int[] rankNow = new int[before.length];
    for (int rank = 0; rank < before.length; rank++) {
      rankNow[rank] = Arrays.binarySearch(members, before[rank]);
      if (rankNow[rank] >= 0) {
        stays[rankNow[rank]] = true;
      }
    }
    points = merged(points, rankNow, pointsOfNew(stays), members.length * replication);
  }

  private long[] sortedMembers() {
    long[] sorted = new long[known.length];
    int count = 0;
    for (int slot = 0; slot < known.length; slot++) {
      if (known[slot]) {
        sorted[count++] = identities[slot];
      }
    }
    sorted = Arrays.copyOf(sorted, count);
    Arrays.sort(sorted);
    return sorted;
  }

  private long[] pointsOfNew(boolean[] stays) {
    int count = 0;
    for (boolean one : stays) {
      count += one ? 0 : replication;
    }
    long[] added = new long[count];
    int at = 0;
    for (int rank = 0; rank < stays.length; rank++) {
      long start = position(members[rank]);
      for (int i = 0; !stays[rank] && i < replication; i++) {
        added[at++] = (position(start + i * GOLDEN) & ~OWNER) | rank;
      }
    }
    Arrays.sort(added);
    return added;
  }

  /**
   * Of two sorted lists one.
   *
   * @param rankNow of the owners of the old ones by their rank before; below 0 for who is gone
   */
  private static long[] merged(long[] old, int[] rankNow, long[] added, int size) {
    long[] all = new long[size];
    int at = 0;
    int next = 0;
    for (long point : old) {
      int rank = rankNow[(int) (point & OWNER)];
      if (rank < 0) {
        continue;
      }
      long stays = (point & ~OWNER) | rank;
      while (next < added.length && added[next] < stays) {
        all[at++] = added[next++];
      }
      all[at++] = stays;
    }
    System.arraycopy(added, next, all, at, added.length - next);
    return all;
  }
}
