package io.fairlead.core.prefix;

import java.util.Arrays;

/**
 * Sets of small numbers, each kept once however many refer to it: many blocks are held by the same
 * endpoints. A set of one number is that number itself and takes no memory.
 *
 * <p>Who refers to a set has one reference of it, which {@link #with} and {@link #without} take in
 * exchange for one of their result.
 */
final class SharedSets {

  /** The empty set. */
  static final int NOBODY = -1;

  private static final int FIRST_SINGLE = -2;

  private long[][] bits = new long[16][];
  private int[] references = new int[16];
  private int used;
  private int free = NOBODY;
  private long bytes;

  /** What was made last, since the blocks of one event most often all change alike. */
  private int from = NOBODY;

  private int by;
  private boolean added;
  private int to = NOBODY;

  /** The same of many numbers at once. */
  private long[] gone = {};

  private int sweptFrom = NOBODY;

  private int sweptTo = NOBODY;

  private final IntTable byContent =
      new IntTable() {
        @Override
        int hash(int set) {
          return mix(bits[set]);
        }
      };

  /** Bytes of all sets of two and more. */
  long bytes() {
    return bytes;
  }

  boolean has(int set, int number) {
    if (set < 0) {
      return set == single(number);
    }
    long[] words = bits[set];
    int word = number >>> 6;
    return word < words.length && (words[word] >>> number & 1) != 0;
  }

  private static int single(int number) {
    return FIRST_SINGLE - number;
  }

  private static int number(int single) {
    return FIRST_SINGLE - single;
  }

  /** Fills in its numbers, lowest first; {@code into} is long enough. Returns how many. */
  int copy(int set, int[] into) {
    if (set == NOBODY) {
      return 0;
    }
    if (set < 0) {
      into[0] = number(set);
      return 1;
    }
    int count = 0;
    long[] words = bits[set];
    for (int w = 0; w < words.length; w++) {
      for (long left = words[w]; left != 0; left &= left - 1) {
        into[count++] = w << 6 | Long.numberOfTrailingZeros(left);
      }
    }
    return count;
  }

  /** The set with this number in it. */
  int with(int set, int number) {
    if (set == NOBODY) {
      return single(number);
    }
    return has(set, number) ? set : changed(set, number, true);
  }

  /** The set without this number. */
  int without(int set, int number) {
    if (!has(set, number)) {
      return set;
    }
    return set < 0 ? NOBODY : changed(set, number, false);
  }

  /**
   * Says which {@link #withoutGone} takes out from now on.
   *
   * @param numbers a bit each
   */
  void gone(long[] numbers) {
    gone = numbers;
    sweptFrom = NOBODY;
  }

  /** The set without any of those who are {@link #gone}: takes as long as without one. */
  int withoutGone(int set) {
    if (set == NOBODY) {
      return NOBODY;
    }
    if (set < 0) {
      int word = number(set) >>> 6;
      return word < gone.length && (gone[word] >>> number(set) & 1) != 0 ? NOBODY : set;
    }
    int result;
    if (set == sweptFrom) {
      result = sweptTo;
    } else {
      long[] words = rest(bits[set], gone);
      result = words.length == 0 ? NOBODY : intern(words);
      sweptFrom = set;
      sweptTo = result;
    }
    if (result != set) {
      refer(result);
      release(set);
    }
    return result;
  }

  private static long[] rest(long[] words, long[] without) {
    long[] rest = words.clone();
    for (int i = Math.min(rest.length, without.length) - 1; i >= 0; i--) {
      rest[i] &= ~without[i];
    }
    return trimmed(rest);
  }

  private int changed(int set, int number, boolean add) {
    if (set == from && number == by && add == added) {
      int known = to;
      refer(known);
      release(set);
      return known;
    }
    int result = intern(toggled(set, number));
    refer(result);
    from = set;
    by = number;
    added = add;
    to = result;
    release(set);
    return result;
  }

  private long[] toggled(int set, int number) {
    int before = set < 0 ? (number(set) >>> 6) + 1 : bits[set].length;
    long[] words = new long[Math.max(before, (number >>> 6) + 1)];
    if (set < 0) {
      words[number(set) >>> 6] |= 1L << number(set);
    } else {
      System.arraycopy(bits[set], 0, words, 0, before);
    }
    words[number >>> 6] ^= 1L << number;
    return trimmed(words);
  }

  private static long[] trimmed(long[] words) {
    int length = words.length;
    while (length > 0 && words[length - 1] == 0) {
      length--;
    }
    return length == words.length ? words : Arrays.copyOf(words, length);
  }

  /** The set of this content: not referred to by this. */
  private int intern(long[] words) {
    int count = 0;
    int first = 0;
    for (int w = words.length - 1; w >= 0; w--) {
      if (words[w] != 0) {
        count += Long.bitCount(words[w]);
        first = w << 6 | Long.numberOfTrailingZeros(words[w]);
      }
    }
    if (count < 2) {
      return count == 0 ? NOBODY : single(first);
    }
    int hash = mix(words);
    int[] cells = byContent.cells(hash);
    for (int cell = IntTable.first(cells, hash); ; cell = IntTable.next(cells, cell)) {
      int set = cells[cell];
      if (set == IntTable.NONE) {
        return add(words);
      }
      if (Arrays.equals(bits[set], words)) {
        return set;
      }
    }
  }

  private int add(long[] words) {
    int set = free;
    if (set == NOBODY) {
      if (used == bits.length) {
        bits = Arrays.copyOf(bits, used * 2);
        references = Arrays.copyOf(references, used * 2);
      }
      set = used++;
    } else {
      free = references[set];
    }
    bits[set] = words;
    references[set] = 0;
    bytes += bytes(words);
    byContent.add(set);
    return set;
  }

  private static long bytes(long[] words) {
    return 40 + (long) Long.BYTES * words.length;
  }

  private void refer(int set) {
    if (set >= 0) {
      references[set]++;
    }
  }

  private void release(int set) {
    if (set < 0 || --references[set] > 0) {
      return;
    }
    byContent.remove(set);
    bytes -= bytes(bits[set]);
    bits[set] = new long[0];
    references[set] = free;
    free = set;
    if (set == from || set == to) {
      from = NOBODY; // no set of two or more is called so
    }
    if (set == sweptFrom || set == sweptTo) {
      sweptFrom = NOBODY;
    }
  }

  private static int mix(long[] words) {
    long z = 0;
    for (long word : words) {
      z = (z ^ word) * 0x9E3779B97F4A7C15L;
      z ^= z >>> 29;
    }
    return (int) (z >>> 32);
  }
}
