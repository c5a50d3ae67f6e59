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

  /** Bytes of one run without its keys: eight fields and its cell in the table. */
  private static final int FIXED_BYTES = 8 * Integer.BYTES + 2 * Integer.BYTES;

  /** Bytes of an array's header. */
  static final int ARRAY_BYTES = 16;

  private static final long[] NO_KEYS = {};

  private final IntTable byFirst =
      new IntTable() {
        @Override
        int hash(int run) {
          return mix(keys(run)[0], records.get(run, DEPTH));
        }
      };

  private static final int LENGTH = 0;
  private static final int DEPTH = 1;
  private static final int PARENT = 2;

  /** First entry of the list while there is no bit set; also links the free runs. */
  private static final int FIRST_ENTRY = 3;

  private static final int HOLDERS = 4;
  private static final int PARTIALS = 5;

  private final Records records = new Records();

  /** By chunk of records and record in it. */
  private long[][][] keys = {};

  private long[][][] holderBits = {};
  private int used;
  private int free = NONE;
  private int live;
  private long arrayBytes;

  /** The run that starts with this key at this depth, or {@link #NONE}. */
  int find(long key, int atDepth) {
    int hash = mix(key, atDepth);
    int[] cells = byFirst.cells(hash);
    for (int cell = IntTable.first(cells, hash); ; cell = IntTable.next(cells, cell)) {
      int run = cells[cell];
      if (run == NONE || (records.get(run, DEPTH) == atDepth && keys(run)[0] == key)) {
        return run;
      }
    }
  }

  /** A new run without holders. */
  int add(long[] ownKeys, int atDepth, int behind) {
    int run = free;
    if (run == NONE) {
      run = used++;
      if (run == records.room()) {
        grow();
      }
    } else {
      free = records.get(run, FIRST_ENTRY);
    }
    keys(run, ownKeys);
    records.set(run, LENGTH, ownKeys.length);
    records.set(run, DEPTH, atDepth);
    records.set(run, PARENT, behind);
    records.set(run, FIRST_ENTRY, NONE);
    records.set(run, HOLDERS, 0);
    records.set(run, PARTIALS, 0);
    arrayBytes += bytes(ownKeys);
    live++;
    byFirst.add(run);
    return run;
  }

  void remove(int run) {
    byFirst.remove(run);
    arrayBytes -= bytes(keys(run)) + bytes(holderBits(run));
    keys(run, NO_KEYS);
    holderBits[Records.chunk(run)][Records.inChunk(run)] = NO_KEYS;
    records.set(run, FIRST_ENTRY, free);
    free = run;
    live--;
  }

  /**
   * Parts a run into a new one with its first keys and itself with the rest; returns the new one.
   */
  int split(int run, int at) {
    byFirst.remove(run);
    int head = add(Arrays.copyOf(keys(run), at), records.get(run, DEPTH), records.get(run, PARENT));
    arrayBytes -= bytes(keys(run));
    keys(run, Arrays.copyOfRange(keys(run), at, records.get(run, LENGTH)));
    arrayBytes += bytes(keys(run));
    records.add(run, LENGTH, -at);
    records.add(run, DEPTH, at);
    records.set(run, PARENT, head);
    byFirst.add(run);
    return head;
  }

  /** Lets go of keys behind {@code to}; of the memory only when that is half of it. */
  void shorten(int run, int to) {
    records.set(run, LENGTH, to);
    if (to <= keys(run).length / 2) {
      arrayBytes -= bytes(keys(run));
      keys(run, Arrays.copyOf(keys(run), to));
      arrayBytes += bytes(keys(run));
    }
  }

  /**
   * How many keys of a prompt, from {@code at} to {@code end}, this run has; the first is known.
   */
  int common(int run, long salt, long[] blocks, int at, int end) {
    long[] own = keys(run);
    int most = Math.min(records.get(run, LENGTH), end - at);
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

  long key(int run, int index) {
    return keys(run)[index];
  }

  int length(int run) {
    return records.get(run, LENGTH);
  }

  int depth(int run) {
    return records.get(run, DEPTH);
  }

  /** The run before it, or {@link #NONE}. */
  int parent(int run) {
    return records.get(run, PARENT);
  }

  int holders(int run) {
    return records.get(run, HOLDERS);
  }

  void holders(int run, int count) {
    records.set(run, HOLDERS, count);
  }

  /** Holders that have lost the run's end. */
  int partials(int run) {
    return records.get(run, PARTIALS);
  }

  void partials(int run, int count) {
    records.set(run, PARTIALS, count);
  }

  int firstEntry(int run) {
    return records.get(run, FIRST_ENTRY);
  }

  void firstEntry(int run, int entry) {
    records.set(run, FIRST_ENTRY, entry);
  }

  /** One bit per holder, or empty while the holders are a list. */
  long[] holderBits(int run) {
    return holderBits[Records.chunk(run)][Records.inChunk(run)];
  }

  /** Its keys, the first {@link #length} of them; not to be changed. */
  long[] keys(int run) {
    return keys[Records.chunk(run)][Records.inChunk(run)];
  }

  private void keys(int run, long[] own) {
    keys[Records.chunk(run)][Records.inChunk(run)] = own;
  }

  void holderBits(int run, long[] bits) {
    arrayBytes += bytes(bits) - bytes(holderBits(run));
    holderBits[Records.chunk(run)][Records.inChunk(run)] = bits;
  }

  /** Bytes of what is there now. */
  long liveBytes() {
    return arrayBytes + (long) live * FIXED_BYTES;
  }

  /** Bytes of the heap taken. */
  long allocatedBytes() {
    return arrayBytes
        + records.bytes()
        + 2L * Integer.BYTES * records.room()
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
    int chunk = Records.chunk(records.room());
    records.grow();
    if (chunk == keys.length) {
      keys = Arrays.copyOf(keys, Math.max(1, chunk * 2));
      holderBits = Arrays.copyOf(holderBits, keys.length);
    }
    keys[chunk] = new long[Records.CHUNK][];
    holderBits[chunk] = new long[Records.CHUNK][];
    Arrays.fill(keys[chunk], NO_KEYS);
    Arrays.fill(holderBits[chunk], NO_KEYS);
  }
}
