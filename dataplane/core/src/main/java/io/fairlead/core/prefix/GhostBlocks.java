package io.fairlead.core.prefix;

/**
 * How many of the blocks that caches lose are asked for again: ghost hits, as in N. Megiddo and D.
 * Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003. Where caches hold all
 * that comes back none of them is; where they are too small by far nearly all are, and each block
 * that is stored twice costs another one.
 *
 * <p>What is asked for after some times as many others were lost as all caches hold is forgotten by
 * then: it would not be there either if a little less had been lost. Of large pools a sample is
 * remembered.
 */
final class GhostBlocks {

  /**
   * As many blocks as all caches hold are remembered where that is less than twice this, and else a
   * sample of them that is between this and twice this.
   */
  private static final int LEAST_REMEMBERED = 1 << 12;

  /** Before so many are stored nothing is known. */
  private static final int FEW = 512;

  /** Keys that are looked at together where few are remembered. */
  private static final int ROW = 256;

  private static final long NOTHING = 0;
  private static final long[] NONE = {};

  /** Keys, each in its slot, a power of two: a newer one takes the place of one before. */
  private long[] slots = NONE;

  /** One block in so many is remembered, a power of two. */
  private long oneIn = 1;

  /**
   * Of late, and since the first one was lost: blocks that a cache has stored. Where all are full
   * each drives out another one; where there is room, as after endpoints have joined, it does not.
   */
  private double stored;

  /** Of late: blocks that a cache has lost, whether or not another one has them. */
  private double lost;

  /** Of late: blocks that were asked for after the last cache had lost them. */
  private double wanted;

  /** A cache has stored blocks that it did not have. */
  void stored(int count) {
    if (lost > 0) {
      stored += count;
    }
  }

  /**
   * A cache has lost blocks for want of room.
   *
   * @param all blocks that all caches have room for: after as many, what was before counts half
   */
  void lost(int count, long all) {
    oneIn = Long.highestOneBit(Math.max(1, all / LEAST_REMEMBERED));
    int room = (int) Long.highestOneBit(Math.max(FEW, 4 * all / oneIn));
    if (slots.length != room) {
      slots = new long[room];
    }
    lost += count;
    while (taken() > Math.max(2 * FEW, all)) {
      stored /= 2;
      lost /= 2;
      wanted /= 2;
    }
  }

  /** No cache has these blocks any more: keys from {@code from} to {@code to}. */
  void gone(long[] keys, int from, int to) {
    for (int i = remembered(keys, from, to); i < to; i = remembered(keys, i + 1, to)) {
      slots[slot(keys[i])] = keys[i];
    }
  }

  /** Blocks are computed that no cache has. */
  void computed(long[] keys) {
    int to = slots.length == 0 ? 0 : keys.length;
    for (int i = remembered(keys, 0, to); i < to; i = remembered(keys, i + 1, to)) {
      int slot = slot(keys[i]);
      if (slots[slot] == keys[i]) {
        slots[slot] = NOTHING;
        wanted += oneIn;
      }
    }
  }

  /** Share of the blocks stored of late that drove out one that was asked for again: 0 to 1. */
  double hits() {
    return taken() < FEW ? 0 : Math.min(wanted, lost) / taken();
  }

  /** Blocks stored of late; a cache that is smaller than was believed loses more than it stores. */
  private double taken() {
    return Math.max(stored, lost);
  }

  /** Bytes of the heap taken. */
  long bytes() {
    return (long) Long.BYTES * slots.length;
  }

  /**
   * The first of these keys that is remembered; {@code to} if none is. The index mixes its keys, so
   * that their lowest bits are as good as drawn.
   */
  private int remembered(long[] keys, int from, int to) {
    long others = oneIn - 1;
    int at = from;
    while (others >= ROW && to - at >= ROW && !someRemembered(keys, at, others)) {
      at += ROW;
    }
    while (at < to && (keys[at] & others) != 0) {
      at++;
    }
    return at;
  }

  /** Whether one of a row of keys is. No branch in here: the compiler makes vectors of it. */
  private static boolean someRemembered(long[] keys, int from, long others) {
    long signs = 0;
    for (int i = from; i < from + ROW; i++) {
      signs |= (keys[i] & others) - 1;
    }
    return signs < 0;
  }

  /** By bits that say nothing of whether a key is remembered. */
  private int slot(long key) {
    return (int) (key >>> 32) & (slots.length - 1);
  }
}
