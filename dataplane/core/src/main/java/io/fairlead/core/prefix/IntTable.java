package io.fairlead.core.prefix;

import java.util.Arrays;

/**
 * A hash table of numbers whose keys lie elsewhere: a cell holds a number, and the caller says
 * where a number's own cell is and which number it looks for.
 *
 * <p>It grows in small steps (extendible hashing: Fagin, Nievergelt, Pippenger, Strong, 1979), so
 * that no request waits while all numbers get new cells: the highest bits of a hash say in which
 * part a number is, and a part that is full becomes two. A part has open addressing with linear
 * probing by the lowest bits, is at most two thirds full, and removal shifts the numbers behind it
 * back: no tombstones.
 */
abstract class IntTable {

  static final int NONE = -1;

  private static final int SMALLEST = 16;

  /** Places of a part that becomes two instead of larger. */
  private static final int LARGEST = 4096;

  /**
   * Bits of hashes that say which part, at most: what makes so many parts is no chance, but keys
   * that somebody chose.
   */
  private static final int MOST_BITS = 16;

  /** Parts by the highest bits of a hash; one that has not been parted so often stands in many. */
  private Part[] parts = {new Part(0)};

  /** How many of a hash's bits say which part. */
  private int bits;

  private int length = SMALLEST;

  /** Some of the numbers: those whose hashes begin alike. */
  private static final class Part {

    /** How many bits of their hashes are alike. */
    private final int alike;

    private int[] cells = emptied(SMALLEST);
    private int size;

    Part(int alike) {
      this.alike = alike;
    }

    /** Makes room for as many numbers as it is said to have. */
    private void reserve() {
      int least = Math.max(SMALLEST, 2 * size);
      cells = emptied(Integer.highestOneBit(2 * least - 1));
    }

    private static int[] emptied(int length) {
      int[] cells = new int[length];
      Arrays.fill(cells, NONE);
      return cells;
    }
  }

  /** Hash of the key of a number that is in the table. */
  abstract int hash(int number);

  /** Cells of all parts. */
  final int length() {
    return length;
  }

  /** The cells among which a number of this hash is; to be read only. */
  final int[] cells(int hash) {
    return part(hash).cells;
  }

  /** The cell where a search starts. */
  static int first(int[] cells, int hash) {
    return hash & (cells.length - 1);
  }

  static int next(int[] cells, int cell) {
    return (cell + 1) & (cells.length - 1);
  }

  /** Adds a number that is not there. */
  final void add(int number) {
    int hash = hash(number);
    Part part = part(hash);
    while ((part.size + 1) * 3 > part.cells.length * 2) {
      if (part.cells.length < LARGEST || part.alike == MOST_BITS) {
        grow(part);
      } else {
        halve(part, hash);
        part = part(hash);
      }
    }
    put(part, number, hash);
    part.size++;
  }

  /** Removes a number that is there. */
  final void remove(int number) {
    Part part = part(hash(number));
    int[] cells = part.cells;
    int hole = first(cells, hash(number));
    while (cells[hole] != number) {
      hole = next(cells, hole);
    }
    int mask = cells.length - 1;
    for (int at = next(cells, hole); cells[at] != NONE; at = next(cells, at)) {
      int home = hash(cells[at]) & mask;
      // It may fill the hole unless its home lies behind the hole, seen around the table's end.
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        cells[hole] = cells[at];
        hole = at;
      }
    }
    cells[hole] = NONE;
    part.size--;
  }

  private Part part(int hash) {
    // By 32 a shift would do nothing.
    return parts[bits == 0 ? 0 : hash >>> (Integer.SIZE - bits)];
  }

  private void grow(Part part) {
    int[] old = part.cells;
    length += old.length;
    part.cells = Part.emptied(old.length * 2);
    for (int each : old) {
      if (each != NONE) {
        put(part, each, hash(each));
      }
    }
  }

  /** Puts the numbers of a part into two, by the first bit in which their hashes may differ. */
  private void halve(Part part, int hash) {
    if (part.alike == bits) {
      Part[] twice = new Part[parts.length * 2];
      for (int i = 0; i < parts.length; i++) {
        twice[2 * i] = parts[i];
        twice[2 * i + 1] = parts[i];
      }
      parts = twice;
      bits++;
    }
    Part low = new Part(part.alike + 1);
    Part high = new Part(part.alike + 1);
    int shift = Integer.SIZE - 1 - part.alike;
    for (int each : part.cells) {
      if (each != NONE && (hash(each) >>> shift & 1) == 1) {
        high.size++;
      }
    }
    low.size = part.size - high.size;
    low.reserve();
    high.reserve();
    length += low.cells.length + high.cells.length - part.cells.length;
    for (int each : part.cells) {
      if (each != NONE) {
        int own = hash(each);
        put((own >>> shift & 1) == 0 ? low : high, each, own);
      }
    }
    int same = 1 << (bits - part.alike);
    int from = (hash >>> (Integer.SIZE - bits)) & -same;
    Arrays.fill(parts, from, from + same / 2, low);
    Arrays.fill(parts, from + same / 2, from + same, high);
  }

  private static void put(Part part, int number, int hash) {
    int[] cells = part.cells;
    int at = first(cells, hash);
    while (cells[at] != NONE) {
      at = next(cells, at);
    }
    cells[at] = number;
  }
}
