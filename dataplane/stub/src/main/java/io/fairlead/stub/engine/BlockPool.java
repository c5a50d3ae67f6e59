package io.fairlead.stub.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The KV cache's blocks: reference counted, and findable by identity for as long as nobody
 * overwrites them. Blocks nobody references wait in a list, longest unused first; a new block is
 * always taken from its head, which is when the cached content is lost.
 *
 * <p>Identities are found by hashing into chains that run through the blocks themselves: blocks of
 * one prompt mostly lie side by side, so that all but the first look is at memory just used.
 */
final class BlockPool {

  /** No block. */
  static final int ABSENT = -1;

  private final int size;
  private final int[] references;
  private final long[] identity;
  private final boolean[] identified;
  private final int[] chains;
  private final int[] nextInChain;
  // A ring through the unreferenced blocks; index `size` is its head and tail.
  private final int[] next;
  private final int[] previous;
  private int free;
  private long acquired;
  private long released;
  private final @Nullable EngineListener watcher;

  /**
   * @param watcher told of content that is lost; null for nobody
   */
  BlockPool(int size, @Nullable EngineListener watcher) {
    this.size = size;
    this.watcher = watcher;
    references = new int[size];
    identity = new long[size];
    identified = new boolean[size];
    chains = new int[Integer.highestOneBit(Math.max(2, size) * 2 - 1)];
    Arrays.fill(chains, ABSENT);
    nextInChain = new int[size];
    next = new int[size + 1];
    previous = new int[size + 1];
    for (int block = 0; block <= size; block++) {
      next[block] = block == size ? 0 : block + 1;
      previous[block] = block == 0 ? size : block - 1;
    }
    free = size;
  }

  /** The block that holds {@code hash}, or {@link #ABSENT}. */
  int lookup(long hash) {
    int block = chains[chain(hash)];
    while (block != ABSENT && identity[block] != hash) {
      block = nextInChain[block];
    }
    return block;
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
      lose(block);
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
   *
   * @return whether it was not known before
   */
  boolean identify(int block, long hash) {
    if (!identified[block] && lookup(hash) == ABSENT) {
      identified[block] = true;
      identity[block] = hash;
      int chain = chain(hash);
      nextInChain[block] = chains[chain];
      chains[chain] = block;
      return true;
    }
    return false;
  }

  /** Forgets what every block holds; who holds blocks keeps them. */
  void forget() {
    Arrays.fill(identified, false);
    Arrays.fill(chains, ABSENT);
    if (watcher != null) {
      watcher.cleared();
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

  private void lose(int block) {
    identified[block] = false;
    if (watcher != null) {
      watcher.removed(identity[block]);
    }
    int chain = chain(identity[block]);
    int before = chains[chain];
    if (before == block) {
      chains[chain] = nextInChain[block];
      return;
    }
    while (nextInChain[before] != block) {
      before = nextInChain[before];
    }
    nextInChain[before] = nextInChain[block];
  }

  private int chain(long hash) {
    return (int) ((hash * 0x9E3779B97F4A7C15L) >>> 32) & (chains.length - 1);
  }
}
