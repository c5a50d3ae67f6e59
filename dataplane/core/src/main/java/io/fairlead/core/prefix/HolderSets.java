package io.fairlead.core.prefix;

import java.util.Arrays;

/** Who holds which run: a list of entries while they are few, a bit set from then on. */
final class HolderSets {

  private final Runs runs;
  private final Holdings holdings;

  /** Words of a bit set over all holders that there may be. */
  private int words = 1;

  HolderSets(Runs runs, Holdings holdings) {
    this.runs = runs;
    this.holdings = holdings;
  }

  /** Makes room for holders below this number. */
  void reserve(int holders) {
    words = Math.max(words, (holders + 63) / 64);
  }

  int words() {
    return words;
  }

  void add(int run, int entry) {
    int count = runs.holders(run) + 1;
    runs.holders(run, count);
    if (runs.holderBits(run).length > 0) {
      setBit(run, holdings.holder(entry));
      return;
    }
    holdings.next(entry, runs.firstEntry(run));
    runs.firstEntry(run, entry);
    // A bit set is then no larger than half of the entries that it belongs to.
    if (count >= Math.max(8, words / 2)) {
      toBits(run);
    }
  }

  void remove(int run, int entry) {
    int count = runs.holders(run) - 1;
    runs.holders(run, count);
    long[] bits = runs.holderBits(run);
    if (bits.length > 0) {
      int holder = holdings.holder(entry);
      bits[holder >>> 6] &= ~(1L << holder);
      if (count < Math.max(8, words / 2) / 4) {
        toList(run);
      }
      return;
    }
    int at = runs.firstEntry(run);
    if (at == entry) {
      runs.firstEntry(run, holdings.next(entry));
      return;
    }
    while (holdings.next(at) != entry) {
      at = holdings.next(at);
    }
    holdings.next(at, holdings.next(entry));
  }

  /** The holders of a run, in {@code into}, which is long enough; returns how many. */
  int copy(int run, int[] into) {
    int count = 0;
    long[] bits = runs.holderBits(run);
    if (bits.length == 0) {
      for (int e = runs.firstEntry(run); e != Holdings.NONE; e = holdings.next(e)) {
        into[count++] = holdings.holder(e);
      }
      return count;
    }
    for (int w = 0; w < bits.length; w++) {
      for (long left = bits[w]; left != 0; left &= left - 1) {
        into[count++] = w << 6 | Long.numberOfTrailingZeros(left);
      }
    }
    return count;
  }

  private void toBits(int run) {
    long[] bits = new long[words];
    for (int e = runs.firstEntry(run); e != Holdings.NONE; e = holdings.next(e)) {
      int holder = holdings.holder(e);
      bits[holder >>> 6] |= 1L << holder;
    }
    runs.firstEntry(run, Holdings.NONE);
    runs.holderBits(run, bits);
  }

  private void toList(int run) {
    long[] bits = runs.holderBits(run);
    runs.holderBits(run, new long[0]);
    for (int w = 0; w < bits.length; w++) {
      for (long left = bits[w]; left != 0; left &= left - 1) {
        int entry = holdings.find(run, w << 6 | Long.numberOfTrailingZeros(left));
        holdings.next(entry, runs.firstEntry(run));
        runs.firstEntry(run, entry);
      }
    }
  }

  private void setBit(int run, int holder) {
    long[] bits = runs.holderBits(run);
    if (holder >>> 6 >= bits.length) {
      bits = Arrays.copyOf(bits, words);
      runs.holderBits(run, bits);
    }
    bits[holder >>> 6] |= 1L << holder;
  }
}
