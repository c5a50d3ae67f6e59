package io.fairlead.stub.engine;

import java.util.Arrays;

/** Long to non-negative int, open addressing with linear probing; sized once, at most half full. */
final class LongIntMap {

  static final int ABSENT = -1;

  private final long[] keys;
  private final int[] values;
  private final int mask;

  LongIntMap(int maxEntries) {
    int capacity = Integer.highestOneBit(Math.max(2, maxEntries) * 2 - 1) * 2;
    keys = new long[capacity];
    values = new int[capacity];
    mask = capacity - 1;
    Arrays.fill(values, ABSENT);
  }

  int get(long key) {
    return values[find(key)];
  }

  void put(long key, int value) {
    int slot = find(key);
    keys[slot] = key;
    values[slot] = value;
  }

  void remove(long key) {
    int hole = find(key);
    if (values[hole] == ABSENT) {
      return;
    }
    // Close the gap: later entries of the same probe run move back, so that no tombstones pile up.
    int slot = hole;
    while (true) {
      slot = (slot + 1) & mask;
      if (values[slot] == ABSENT) {
        break;
      }
      int home = home(keys[slot]);
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        keys[hole] = keys[slot];
        values[hole] = values[slot];
        hole = slot;
      }
    }
    values[hole] = ABSENT;
  }

  private int find(long key) {
    int slot = home(key);
    while (values[slot] != ABSENT && keys[slot] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private int home(long key) {
    long mixed = key * 0x9E3779B97F4A7C15L;
    return (int) (mixed >>> 32) & mask;
  }
}
