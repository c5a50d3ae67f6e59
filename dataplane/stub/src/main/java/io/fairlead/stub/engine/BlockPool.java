package io.fairlead.stub.engine;

import java.util.Arrays;

/**
 * The KV cache's blocks: reference counted, and findable by identity for as long as nobody
 * overwrites them. Blocks nobody references wait in a list, longest unused first; a new block is
 * always taken from its head, which is when the cached content is lost.
 *
 * <p>Waiting for memory is most of what this costs, so there is little to wait for. All that is
 * known of a block lies side by side in one array. And identities are hashed in groups: since each
 * stands for all content up to its end, its place in the prompt is the same in every prompt, and so
 * is the first of its group, by which the group finds a cache line of its own.
 */
final class BlockPool {

  /** No block. */
  static final int ABSENT = -1;

  /** Identities hashed together; as many chains as a cache line holds. */
  private static final int GROUP = 16;

  /** Fields of a block, as offsets into its part of the table. */
  private static final int WIDTH = 8;

  private static final int NEXT = 0;
  private static final int PREVIOUS = 1;
  private static final int REFERENCES = 2;
  private static final int IDENTIFIED = 3;
  private static final int LOW = 4;
  private static final int HIGH = 5;
  private static final int CHAIN = 6;
  private static final int NEXT_IN_CHAIN = 7;

  private final int size;

  /**
   * {@link #WIDTH} numbers for each block. NEXT and PREVIOUS make a ring through the unreferenced
   * blocks, of which one that doesn't exist, with the number {@code size}, is head and tail.
   */
  private final int[] table;

  /** First blocks of the chains of identities. */
  private final int[] chains;

  private int free;
  private long acquired;
  private long released;

  BlockPool(int size) {
    this.size = size;
    table = new int[(size + 1) * WIDTH];
    chains = new int[Integer.highestOneBit(Math.max(GROUP, size) * 2 - 1)];
    Arrays.fill(chains, ABSENT);
    for (int block = 0; block <= size; block++) {
      link(block == 0 ? size : block - 1, block);
    }
    free = size;
  }

  /** The block that holds the identity at {@code index}, or {@link #ABSENT}. */
  int lookup(long[] identities, int index) {
    return find(chain(identities, index), identities[index]);
  }

  boolean isFree(int block) {
    return table[block * WIDTH + REFERENCES] == 0;
  }

  /** Takes the longest unused block; the caller has checked that one is free. */
  int allocate() {
    int block = table[size * WIDTH + NEXT];
    if (block == size) {
      throw new IllegalStateException("no free block");
    }
    if (table[block * WIDTH + IDENTIFIED] != 0) {
      lose(block);
    }
    share(block);
    return block;
  }

  /** Adds a reference to a block found by {@link #lookup}. */
  void share(int block) {
    int at = block * WIDTH;
    if (table[at + REFERENCES]++ == 0) {
      link(table[at + PREVIOUS], table[at + NEXT]);
      free--;
      acquired++;
    }
  }

  void release(int block) {
    int at = block * WIDTH;
    if (table[at + REFERENCES] == 0) {
      throw new IllegalStateException("block " + block + " released more often than taken");
    }
    if (--table[at + REFERENCES] == 0) {
      link(table[size * WIDTH + PREVIOUS], block);
      link(block, size);
      free++;
      released++;
    }
  }

  /**
   * Makes a full block findable by the identity at {@code index}. Where another block already holds
   * the same content, that one stays the known one.
   */
  void identify(int block, long[] identities, int index) {
    int at = block * WIDTH;
    int chain = chain(identities, index);
    long identity = identities[index];
    if (table[at + IDENTIFIED] == 0 && find(chain, identity) == ABSENT) {
      table[at + IDENTIFIED] = 1;
      table[at + LOW] = (int) identity;
      table[at + HIGH] = (int) (identity >>> 32);
      table[at + CHAIN] = chain;
      table[at + NEXT_IN_CHAIN] = chains[chain];
      chains[chain] = block;
    }
  }

  /** Forgets what every block holds; who holds blocks keeps them. */
  void forget() {
    Arrays.fill(chains, ABSENT);
    for (int block = 0; block < size; block++) {
      table[block * WIDTH + IDENTIFIED] = 0;
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

  /** How often a block came to be referenced. */
  long acquired() {
    return acquired;
  }

  /** How often a block came to be referenced no more. */
  long released() {
    return released;
  }

  long references() {
    long sum = 0;
    for (int block = 0; block < size; block++) {
      sum += table[block * WIDTH + REFERENCES];
    }
    return sum;
  }

  private void link(int before, int after) {
    table[before * WIDTH + NEXT] = after;
    table[after * WIDTH + PREVIOUS] = before;
  }

  private void lose(int block) {
    int at = block * WIDTH;
    table[at + IDENTIFIED] = 0;
    int chain = table[at + CHAIN];
    int before = chains[chain];
    if (before == block) {
      chains[chain] = table[at + NEXT_IN_CHAIN];
      return;
    }
    while (table[before * WIDTH + NEXT_IN_CHAIN] != block) {
      before = table[before * WIDTH + NEXT_IN_CHAIN];
    }
    table[before * WIDTH + NEXT_IN_CHAIN] = table[at + NEXT_IN_CHAIN];
  }

  private int find(int chain, long identity) {
    int block = chains[chain];
    while (block != ABSENT && !holds(block, identity)) {
      block = table[block * WIDTH + NEXT_IN_CHAIN];
    }
    return block;
  }

  private boolean holds(int block, long identity) {
    return table[block * WIDTH + LOW] == (int) identity
        && table[block * WIDTH + HIGH] == (int) (identity >>> 32);
  }

  private int chain(long[] identities, int index) {
    long first = identities[index & -GROUP];
    int group = (int) ((first * 0x9E3779B97F4A7C15L) >>> 32) & (chains.length - GROUP);
    return group + (index & (GROUP - 1));
  }
}
