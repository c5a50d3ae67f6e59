package io.fairlead.core.prefix;

import java.util.Arrays;

/**
 * Open addressing with linear probing over numbers whose keys lie elsewhere: a place holds a
 * number, and the caller says where a number's own place is and which number it looks for. Removal
 * shifts the numbers behind it back: no tombstones. At most two thirds full.
 */
abstract class IntTable {

  static final int NONE = -1;

  private static final int SMALLEST = 16;

  private int[] places = new int[SMALLEST];
  private int size;

  IntTable() {
    Arrays.fill(places, NONE);
  }

  /** Hash of the key of a number that is in the table; its low bits are used. */
  abstract int hash(int number);

  final int length() {
    return places.length;
  }

  /** The number at or behind this hash's place, where a search starts. */
  final int first(int hash) {
    return hash & (places.length - 1);
  }

  final int next(int place) {
    return (place + 1) & (places.length - 1);
  }

  final int at(int place) {
    return places[place];
  }

  /** Adds a number that is not there. */
  final void add(int number) {
    if ((size + 1) * 3L > places.length * 2L) {
      int[] old = places;
      places = new int[old.length * 2];
      Arrays.fill(places, NONE);
      for (int each : old) {
        if (each != NONE) {
          place(each);
        }
      }
    }
    place(number);
    size++;
  }

  /** Removes a number that is there. */
  final void remove(int number) {
    int hole = first(hash(number));
    while (places[hole] != number) {
      hole = next(hole);
    }
    int mask = places.length - 1;
    for (int at = next(hole); places[at] != NONE; at = next(at)) {
      int home = hash(places[at]) & mask;
      // It may fill the hole unless its home lies behind the hole, seen around the table's end.
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        places[hole] = places[at];
        hole = at;
      }
    }
    places[hole] = NONE;
    size--;
  }

  private void place(int number) {
    int at = first(hash(number));
    while (places[at] != NONE) {
      at = next(at);
    }
    places[at] = number;
  }
}
