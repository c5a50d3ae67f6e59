package io.fairlead.core.prefix;

/**
 * Which holder holds which run: an entry for each such pair, in the order in which its holder last
 * used it. A run's entries are also a list while its holders are few.
 */
final class Holdings {

  static final int NONE = -1;

  /** Bytes of one entry: six fields and its cell in the table. */
  private static final int FIXED_BYTES = 6 * Integer.BYTES + 2 * Integer.BYTES;

  private final IntTable byPair =
      new IntTable() {
        @Override
        int hash(int entry) {
          return mix(records.get(entry, RUN), records.get(entry, HOLDER));
        }
      };

  private static final int RUN = 0;
  private static final int HOLDER = 1;
  private static final int NEWER = 2;
  private static final int OLDER = 3;

  /** The run's next entry; also links the free entries. */
  private static final int NEXT = 4;

  /** How many of the runs behind it the holder has. */
  private static final int BEHIND = 5;

  private final Records records = new Records();
  private int used;
  private int free = NONE;
  private int live;

  /** Follows an entry of some holder's order; none unless somebody walks along it. */
  private int watched = NONE;

  /**
   * From now on {@link #watched} is this entry, or the next older one when that leaves its place.
   */
  void watch(int entry) {
    watched = entry;
  }

  int watched() {
    return watched;
  }

  int older(int entry) {
    return records.get(entry, OLDER);
  }

  int run(int entry) {
    return records.get(entry, RUN);
  }

  int holder(int entry) {
    return records.get(entry, HOLDER);
  }

  int next(int entry) {
    return records.get(entry, NEXT);
  }

  void next(int entry, int following) {
    records.set(entry, NEXT, following);
  }

  int behind(int entry) {
    return records.get(entry, BEHIND);
  }

  void behind(int entry, int count) {
    records.set(entry, BEHIND, count);
  }

  /** The entry of this pair, or {@link #NONE}. */
  int find(int ofRun, int ofHolder) {
    int hash = mix(ofRun, ofHolder);
    int[] cells = byPair.cells(hash);
    for (int cell = IntTable.first(cells, hash); ; cell = IntTable.next(cells, cell)) {
      int entry = cells[cell];
      if (entry == NONE
          || (records.get(entry, RUN) == ofRun && records.get(entry, HOLDER) == ofHolder)) {
        return entry;
      }
    }
  }

  /** A new entry that is in nobody's order yet. */
  int add(int ofRun, int ofHolder) {
    int entry = free;
    if (entry == NONE) {
      entry = used++;
      if (entry == records.room()) {
        records.grow();
      }
    } else {
      free = records.get(entry, NEXT);
    }
    records.set(entry, RUN, ofRun);
    records.set(entry, HOLDER, ofHolder);
    records.set(entry, NEXT, NONE);
    records.set(entry, BEHIND, 0);
    live++;
    byPair.add(entry);
    return entry;
  }

  /** Frees an entry that is in nobody's order any more. */
  void remove(int entry) {
    byPair.remove(entry);
    records.set(entry, NEXT, free);
    free = entry;
    live--;
  }

  void linkNewest(Holder owner, int entry) {
    records.set(entry, NEWER, NONE);
    records.set(entry, OLDER, owner.newest);
    if (owner.newest == NONE) {
      owner.oldest = entry;
    } else {
      records.set(owner.newest, NEWER, entry);
    }
    owner.newest = entry;
  }

  /** Puts an entry just after, in age, one that is in the order. */
  void linkNewer(Holder owner, int entry, int than) {
    records.set(entry, OLDER, than);
    records.set(entry, NEWER, records.get(than, NEWER));
    if (records.get(than, NEWER) == NONE) {
      owner.newest = entry;
    } else {
      records.set(records.get(than, NEWER), OLDER, entry);
    }
    records.set(than, NEWER, entry);
  }

  void unlink(Holder owner, int entry) {
    if (entry == watched) {
      watched = records.get(entry, OLDER);
    }
    if (records.get(entry, NEWER) == NONE) {
      owner.newest = records.get(entry, OLDER);
    } else {
      records.set(records.get(entry, NEWER), OLDER, records.get(entry, OLDER));
    }
    if (records.get(entry, OLDER) == NONE) {
      owner.oldest = records.get(entry, NEWER);
    } else {
      records.set(records.get(entry, OLDER), NEWER, records.get(entry, NEWER));
    }
  }

  /** Bytes of what is there now. */
  long liveBytes() {
    return (long) live * FIXED_BYTES;
  }

  /** Bytes of the heap taken. */
  long allocatedBytes() {
    return records.bytes() + (long) Integer.BYTES * byPair.length();
  }

  private static int mix(int run, int holder) {
    long z = ((long) run << 32 | holder) * 0x9E3779B97F4A7C15L;
    return (int) (z >>> 32);
  }
}
