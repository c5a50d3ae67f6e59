package io.fairlead.core.prefix;

import java.util.Arrays;

/**
 * A tree of prompts as runs of block keys: a run ends where prompts part or where one ended. Since
 * a block's key stands for everything before it, a run is found by its first key and its depth
 * alone, and how far a prompt goes along a run by bisection.
 *
 * <p>Who holds a run is a list of entries of {@link Holdings} while they are few, and a bit set
 * over the holders from then on, so that a run that all hold costs a bit for each.
 */
final class Runs {

  static final int NONE = -1;

  /** Bytes of one run without its keys: eight fields and its place in the table. */
  private static final int FIXED_BYTES = 8 * Integer.BYTES + 2 * Integer.BYTES;

  /** Bytes of an array's header. */
  static final int ARRAY_BYTES = 16;

  private static final long[] NO_KEYS = {};

  private final IntTable byFirst =
      new IntTable() {
        @Override
        int hash(int run) {
          return mix(keys[run][0], depth[run]);
        }
      };

  private long[][] keys = {};
  private long[][] holderBits = {};
  private int[] length = {};
  private int[] depth = {};
  private int[] parent = {};

  /** First entry of the list while there is no bit set; also links the free places. */
  private int[] firstEntry = {};

  private int[] holders = {};
  private int[] partials = {};
  private int used;
  private int free = NONE;
  private int live;
  private long arrayBytes;

  /** The run that starts with this key at this depth, or {@link #NONE}. */
  int find(long key, int atDepth) {
    for (int place = byFirst.first(mix(key, atDepth)); ; place = byFirst.next(place)) {
      int run = byFirst.at(place);
      if (run == NONE || (depth[run] == atDepth && keys[run][0] == key)) {
        return run;
      }
    }
  }

  /** A new run without holders. */
  int add(long[] ownKeys, int atDepth, int behind) {
    int run = free;
    if (run == NONE) {
      run = used++;
      if (run == length.length) {
        grow();
      }
    } else {
      free = firstEntry[run];
    }
    keys[run] = ownKeys;
    length[run] = ownKeys.length;
    depth[run] = atDepth;
    parent[run] = behind;
    firstEntry[run] = NONE;
    holders[run] = 0;
    partials[run] = 0;
    arrayBytes += bytes(ownKeys);
    live++;
    byFirst.add(run);
    return run;
  }

  void remove(int run) {
    byFirst.remove(run);
    arrayBytes -= bytes(keys[run]) + bytes(holderBits[run]);
    keys[run] = NO_KEYS;
    holderBits[run] = NO_KEYS;
    firstEntry[run] = free;
    free = run;
    live--;
  }

  /**
   * Parts a run into a new one with its first keys and itself with the rest; returns the new one.
   */
  int split(int run, int at) {
    byFirst.remove(run);
    int head = add(Arrays.copyOf(keys[run], at), depth[run], parent[run]);
    arrayBytes -= bytes(keys[run]);
    keys[run] = Arrays.copyOfRange(keys[run], at, length[run]);
    arrayBytes += bytes(keys[run]);
    length[run] -= at;
    depth[run] += at;
    parent[run] = head;
    byFirst.add(run);
    return head;
  }

  /** Lets go of keys behind {@code to}; of the memory only when that is half of it. */
  void shorten(int run, int to) {
    length[run] = to;
    if (to <= keys[run].length / 2) {
      arrayBytes -= bytes(keys[run]);
      keys[run] = Arrays.copyOf(keys[run], to);
      arrayBytes += bytes(keys[run]);
    }
  }

  /**
   * How many keys of a prompt, from {@code at} to {@code end}, this run has; the first is known.
   */
  int common(int run, long salt, long[] blocks, int at, int end) {
    long[] own = keys[run];
    int most = Math.min(length[run], end - at);
    if (own[most - 1] == PrefixIndex.key(salt, blocks[at + most - 1])) {
      return most;
    }
    int low = 1;
    int high = most - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (own[middle] == PrefixIndex.key(salt, blocks[at + middle])) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  int length(int run) {
    return length[run];
  }

  int depth(int run) {
    return depth[run];
  }

  /** The run before it, or {@link #NONE}. */
  int parent(int run) {
    return parent[run];
  }

  int holders(int run) {
    return holders[run];
  }

  void holders(int run, int count) {
    holders[run] = count;
  }

  /** Holders that have lost the run's end. */
  int partials(int run) {
    return partials[run];
  }

  void partials(int run, int count) {
    partials[run] = count;
  }

  int firstEntry(int run) {
    return firstEntry[run];
  }

  void firstEntry(int run, int entry) {
    firstEntry[run] = entry;
  }

  /** One bit per holder, or empty while the holders are a list. */
  long[] holderBits(int run) {
    return holderBits[run];
  }

  void holderBits(int run, long[] bits) {
    arrayBytes += bytes(bits) - bytes(holderBits[run]);
    holderBits[run] = bits;
  }

  /** Bytes of what is there now. */
  long liveBytes() {
    return arrayBytes + (long) live * FIXED_BYTES;
  }

  /** Bytes of the heap taken. */
  long allocatedBytes() {
    return arrayBytes
        + 8L * Integer.BYTES * length.length
        + (long) Integer.BYTES * byFirst.length();
  }

  private static long bytes(long[] array) {
    return array.length == 0 ? 0 : ARRAY_BYTES + (long) Long.BYTES * array.length;
  }

  private static int mix(long key, int depth) {
    long z = (key + depth) * 0x9E3779B97F4A7C15L;
    return (int) (z >>> 32);
  }

  private void grow() {
    int to = Math.max(16, length.length + length.length / 4);
    int from = keys.length;
    keys = Arrays.copyOf(keys, to);
    holderBits = Arrays.copyOf(holderBits, to);
    Arrays.fill(keys, from, to, NO_KEYS);
    Arrays.fill(holderBits, from, to, NO_KEYS);
    length = Arrays.copyOf(length, to);
    depth = Arrays.copyOf(depth, to);
    parent = Arrays.copyOf(parent, to);
    firstEntry = Arrays.copyOf(firstEntry, to);
    holders = Arrays.copyOf(holders, to);
    partials = Arrays.copyOf(partials, to);
  }
}
