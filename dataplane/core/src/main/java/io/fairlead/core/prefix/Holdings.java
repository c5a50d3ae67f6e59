package io.fairlead.core.prefix;

import java.util.Arrays;

/**
 * Which holder holds which run: an entry for each such pair, in the order in which its holder last
 * used it. A run's entries are also a list while its holders are few.
 */
final class Holdings {

  static final int NONE = -1;

  /** Bytes of one entry: six fields and its place in the table. */
  private static final int FIXED_BYTES = 6 * Integer.BYTES + 2 * Integer.BYTES;

  private final IntTable byPair =
      new IntTable() {
        @Override
        int hash(int entry) {
          return mix(run[entry], holder[entry]);
        }
      };

  private int[] run = {};
  private int[] holder = {};
  private int[] newer = {};
  private int[] older = {};

  /** The run's next entry; also links the free places. */
  private int[] next = {};

  /** How many of the runs behind it the holder has. */
  private int[] behind = {};

  private int used;
  private int free = NONE;
  private int live;

  int run(int entry) {
    return run[entry];
  }

  int holder(int entry) {
    return holder[entry];
  }

  int next(int entry) {
    return next[entry];
  }

  void next(int entry, int following) {
    next[entry] = following;
  }

  int behind(int entry) {
    return behind[entry];
  }

  void behind(int entry, int count) {
    behind[entry] = count;
  }

  /** The entry of this pair, or {@link #NONE}. */
  int find(int ofRun, int ofHolder) {
    for (int place = byPair.first(mix(ofRun, ofHolder)); ; place = byPair.next(place)) {
      int entry = byPair.at(place);
      if (entry == NONE || (run[entry] == ofRun && holder[entry] == ofHolder)) {
        return entry;
      }
    }
  }

  /** A new entry that is in nobody's order yet. */
  int add(int ofRun, int ofHolder) {
    int entry = free;
    if (entry == NONE) {
      entry = used++;
      if (entry == run.length) {
        grow();
      }
    } else {
      free = next[entry];
    }
    run[entry] = ofRun;
    holder[entry] = ofHolder;
    next[entry] = NONE;
    behind[entry] = 0;
    live++;
    byPair.add(entry);
    return entry;
  }

  /** Frees an entry that is in nobody's order any more. */
  void remove(int entry) {
    byPair.remove(entry);
    next[entry] = free;
    free = entry;
    live--;
  }

  void linkNewest(Holder owner, int entry) {
    newer[entry] = NONE;
    older[entry] = owner.newest;
    if (owner.newest == NONE) {
      owner.oldest = entry;
    } else {
      newer[owner.newest] = entry;
    }
    owner.newest = entry;
  }

  /** Puts an entry just after, in age, one that is in the order. */
  void linkNewer(Holder owner, int entry, int than) {
    older[entry] = than;
    newer[entry] = newer[than];
    if (newer[than] == NONE) {
      owner.newest = entry;
    } else {
      older[newer[than]] = entry;
    }
    newer[than] = entry;
  }

  void unlink(Holder owner, int entry) {
    if (newer[entry] == NONE) {
      owner.newest = older[entry];
    } else {
      older[newer[entry]] = older[entry];
    }
    if (older[entry] == NONE) {
      owner.oldest = newer[entry];
    } else {
      newer[older[entry]] = newer[entry];
    }
  }

  /** Bytes of what is there now. */
  long liveBytes() {
    return (long) live * FIXED_BYTES;
  }

  /** Bytes of the heap taken. */
  long allocatedBytes() {
    return 6L * Integer.BYTES * run.length + (long) Integer.BYTES * byPair.length();
  }

  private static int mix(int run, int holder) {
    long z = ((long) run << 32 | holder) * 0x9E3779B97F4A7C15L;
    return (int) (z >>> 32);
  }

  private void grow() {
    int to = Math.max(16, run.length + run.length / 4);
    run = Arrays.copyOf(run, to);
    holder = Arrays.copyOf(holder, to);
    newer = Arrays.copyOf(newer, to);
    older = Arrays.copyOf(older, to);
    next = Arrays.copyOf(next, to);
    behind = Arrays.copyOf(behind, to);
  }
}
