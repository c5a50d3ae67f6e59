package io.fairlead.core.plugins.cache;

import java.util.Arrays;

/** Slots in the order of their last use: a linked list in arrays, bounded. */
final class RecentSlots {

  private static final int ABSENT = -2;
  private static final int END = -1;

  private final int capacity;
  private int[] newer = {};
  private int[] older = {};
  private int oldest = END;
  private int newest = END;
  private int size;

  RecentSlots(int capacity) {
    this.capacity = capacity;
  }

  boolean contains(int slot) {
    return slot < newer.length && newer[slot] != ABSENT;
  }

  /** The slot whose last use is longest ago, -1 when none was used. */
  int oldest() {
    return oldest;
  }

  /** The slot used next after this one, -1 for the last. */
  int newer(int slot) {
    return newer[slot];
  }

  /** Makes it the newest; forgets the oldest when there are too many. */
  void touch(int slot) {
    remove(slot);
    reserve(slot);
    newer[slot] = END;
    older[slot] = newest;
    if (newest == END) {
      oldest = slot;
    } else {
      newer[newest] = slot;
    }
    newest = slot;
    if (++size > capacity) {
      remove(oldest);
    }
  }

  void remove(int slot) {
    if (!contains(slot)) {
      return;
    }
    int before = older[slot];
    int after = newer[slot];
    if (before == END) {
      oldest = after;
    } else {
      newer[before] = after;
    }
    if (after == END) {
      newest = before;
    } else {
      older[after] = before;
    }
    newer[slot] = ABSENT;
    size--;
  }

  private void reserve(int slot) {
    int from = newer.length;
    if (from <= slot) {
      int length = Math.max(16, slot + slot / 2 + 1);
      newer = Arrays.copyOf(newer, length);
      older = Arrays.copyOf(older, length);
      Arrays.fill(newer, from, length, ABSENT);
    }
  }
}
