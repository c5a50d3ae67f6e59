package io.fairlead.stub.engine;

/**
 * The KV cache's blocks: reference counted, and findable by identity for as long as nobody
 * overwrites them. Blocks nobody references wait in a list, longest unused first; a new block is
 * always taken from its head, which is when the cached content is lost.
 */
final class BlockPool {

  private final int size;
  private final int[] references;
  private final long[] identity;
  private final boolean[] identified;
  private final LongIntMap byIdentity;
  // A ring through the unreferenced blocks; index `size` is its head and tail.
  private final int[] next;
  private final int[] previous;
  private int free;
  private long acquired;
  private long released;

  BlockPool(int size) {
    this.size = size;
    references = new int[size];
    identity = new long[size];
    identified = new boolean[size];
    byIdentity = new LongIntMap(size);
    next = new int[size + 1];
    previous = new int[size + 1];
    for (int block = 0; block <= size; block++) {
      next[block] = block == size ? 0 : block + 1;
      previous[block] = block == 0 ? size : block - 1;
    }
    free = size;
  }

  /** The block that holds {@code hash}, or {@link LongIntMap#ABSENT}. */
  int lookup(long hash) {
    return byIdentity.get(hash);
  }

  boolean isFree(int block) {
    return references[block] == 0;
  }

  /** Takes the longest unused block; the caller has checked that one is free. */
  int allocate() {
    int block = next[size];
    if (block == size) {
      throw new IllegalStateException("no free block");
    }
    if (identified[block]) {
      byIdentity.remove(identity[block]);
      identified[block] = false;
    }
    share(block);
    return block;
  }

  /** Adds a reference to a block found by {@link #lookup}. */
  void share(int block) {
    if (references[block]++ == 0) {
      next[previous[block]] = next[block];
      previous[next[block]] = previous[block];
      free--;
      acquired++;
    }
  }

  void release(int block) {
    if (references[block] == 0) {
      throw new IllegalStateException("block " + block + " released more often than taken");
    }
    if (--references[block] == 0) {
      int last = previous[size];
      next[last] = block;
      previous[block] = last;
      next[block] = size;
      previous[size] = block;
      free++;
      released++;
    }
  }

  /**
   * Makes a full block findable. Where another block already holds the same content, that one stays
   * the known one.
   */
  void identify(int block, long hash) {
    if (!identified[block] && byIdentity.get(hash) == LongIntMap.ABSENT) {
      identified[block] = true;
      identity[block] = hash;
      byIdentity.put(hash, block);
    }
  }

  /** Forgets what every block holds; who holds blocks keeps them. */
  void forget() {
    for (int block = 0; block < size; block++) {
      if (identified[block]) {
        byIdentity.remove(identity[block]);
        identified[block] = false;
      }
    }
  }

  int free() {
    return free;
  }

  int held() {
    return size - free;
  }

  int size() {
    return size;
  }

  long acquired() {
    return acquired;
  }

  long released() {
    return released;
  }

  long references() {
    long sum = 0;
    for (int count : references) {
      sum += count;
    }
    return sum;
  }
}
