package io.fairlead.core.prefix;

/**
 * The block keys that one endpoint holds, least recently touched first out. Open addressing with
 * linear probing; the order is a doubly linked list whose links are places in the table, so an
 * entry is one long and two ints. Removal shifts the entries behind it back: no tombstones.
 */
final class LruBlocks {

  private static final int NIL = -1;
  private static final int SMALLEST_TABLE = 16;

  private int capacity;
  private int size;
  private long[] keys = new long[1];
  private int[] newer = new int[1];
  private int[] older = new int[1];
  private int newest = NIL;
  private int oldest = NIL;

  LruBlocks(int capacity) {
    this.capacity = capacity;
  }

  int capacity() {
    return capacity;
  }

  int size() {
    return size;
  }

  void capacity(int blocks) {
    if (blocks < 1) {
      throw new IllegalArgumentException("capacity is " + blocks + "; set 1 or up");
    }
    capacity = blocks;
    while (size > capacity) {
      remove(oldest);
    }
  }

  boolean contains(long key) {
    return keys[place(key)] == key;
  }

  /** Makes the key the newest; adds it, at the cost of the oldest, when it is not there. */
  void touch(long key) {
    int at = place(key);
    if (keys[at] == key) {
      unlink(at);
      linkNewest(at);
      return;
    }
    if (size == capacity) {
      remove(oldest);
    }
    if ((size + 1) * 4L > keys.length * 3L) {
      grow();
    }
    at = place(key);
    keys[at] = key;
    linkNewest(at);
    size++;
  }

  void drop(long key) {
    int at = place(key);
    if (keys[at] == key) {
      remove(at);
    }
  }

  /** Where the key is, or the empty place where it would go. */
  private int place(long key) {
    int mask = keys.length - 1;
    int at = (int) key & mask;
    while (keys[at] != key && keys[at] != 0) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private void linkNewest(int at) {
    newer[at] = NIL;
    older[at] = newest;
    if (newest == NIL) {
      oldest = at;
    } else {
      newer[newest] = at;
    }
    newest = at;
  }

  private void unlink(int at) {
    if (newer[at] == NIL) {
      newest = older[at];
    } else {
      older[newer[at]] = older[at];
    }
    if (older[at] == NIL) {
      oldest = newer[at];
    } else {
      newer[older[at]] = newer[at];
    }
  }

  private void remove(int at) {
    unlink(at);
    size--;
    int mask = keys.length - 1;
    int hole = at;
    int next = (hole + 1) & mask;
    while (keys[next] != 0) {
      int home = (int) keys[next] & mask;
      // It may fill the hole unless its home lies behind the hole, seen around the table's end.
      if (((next - home) & mask) >= ((next - hole) & mask)) {
        move(next, hole);
        hole = next;
      }
      next = (next + 1) & mask;
    }
    keys[hole] = 0;
  }

  private void move(int from, int to) {
    keys[to] = keys[from];
    newer[to] = newer[from];
    older[to] = older[from];
    if (newer[to] == NIL) {
      newest = to;
    } else {
      older[newer[to]] = to;
    }
    if (older[to] == NIL) {
      oldest = to;
    } else {
      newer[older[to]] = to;
    }
  }

  private void grow() {
    long[] oldKeys = keys;
    int[] oldNewer = newer;
    int at = oldest;
    int length = Math.max(SMALLEST_TABLE, oldKeys.length * 2);
    keys = new long[length];
    newer = new int[length];
    older = new int[length];
    newest = NIL;
    oldest = NIL;
    while (at != NIL) {
      int place = place(oldKeys[at]);
      keys[place] = oldKeys[at];
      linkNewest(place);
      at = oldNewer[at];
    }
  }
}
