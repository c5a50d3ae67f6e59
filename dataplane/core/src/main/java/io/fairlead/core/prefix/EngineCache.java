package io.fairlead.core.prefix;

import java.util.Arrays;

/**
 * What one engine says it holds, block by block: makes of its events what an {@link ExactIndex}
 * needs. It names blocks by hashes of its own; a prompt's tokens make {@link TokenChain} states. So
 * each of its hashes is kept with the state that its block's tokens lead to.
 *
 * <p>Of a block whose parent was never told, nobody knows what prompt it belongs to: it is counted
 * and matches nothing. Not thread-safe.
 */
public final class EngineCache {

  /** Bytes of the heap for one block: three columns, at most three quarters full. */
  public static final int BYTES_PER_BLOCK = 2 * (2 * Long.BYTES + Integer.BYTES);

  private static final int SMALLEST = 64;

  /** In place of a position: nothing is known of what is before the block. */
  private static final int UNPLACED = -1;

  private static final int EMPTY = 0;

  private final int grain;
  private final int mostBlocks;
  private long[] hashes = new long[SMALLEST];

  /** State at the block's end, with the adapter's salt. */
  private long[] keys = new long[SMALLEST];

  /** Tokens up to the block's end. */
  private int[] positions = new int[SMALLEST];

  private int size;
  private int blockTokens;

  /**
   * An engine that holds nothing yet.
   *
   * @param grain how many tokens lie between two keys of a prompt; 0 where nobody compares prompts,
   *     and blocks are only counted
   * @param mostBlocks blocks that are kept at most
   */
  public EngineCache(int grain, int mostBlocks) {
    if (grain < 0 || mostBlocks < 1) {
      throw new IllegalArgumentException(
          "grain is " + grain + ", mostBlocks " + mostBlocks + "; set 0 or up, and 1 or up");
    }
    this.grain = grain;
    this.mostBlocks = mostBlocks;
  }

  /** Blocks that it holds. */
  public int size() {
    return size;
  }

  /** Whether blocks of this many tokens end where a prompt has keys. */
  public static boolean fits(int blockTokens, int grain) {
    return grain == 0 || blockTokens % grain == 0 || grain % blockTokens == 0;
  }

  /** What the engine holds isn't known any more. */
  public void clear(CacheChange into) {
    forget();
    into.cleared();
    into.blocks(0);
  }

  private void forget() {
    hashes = new long[SMALLEST];
    keys = new long[SMALLEST];
    positions = new int[SMALLEST];
    size = 0;
  }

  /**
   * Takes one event in.
   *
   * @param into gets what follows from it
   * @return false if there are more blocks than are kept: {@link #clear} is all that helps
   */
  public boolean apply(CacheEvent event, CacheChange into) {
    switch (event) {
      case CacheEvent.Stored stored -> {
        if (size + stored.blocks().length > mostBlocks) {
          return false;
        }
        store(stored, into);
      }
      case CacheEvent.Removed removed -> {
        for (long block : removed.blocks()) {
          remove(block, into);
        }
      }
      case CacheEvent.Cleared _ -> {
        forget();
        into.emptied();
      }
    }
    into.blocks(size);
    into.blockTokens(blockTokens);
    return true;
  }

  /** What the engine holds has not changed: the change tells how much that is, and nothing else. */
  public void unchanged(CacheChange into) {
    into.blocks(size);
    into.blockTokens(blockTokens);
  }

  private void store(CacheEvent.Stored event, CacheChange into) {
    long salt = TokenChain.salt(event.adapter());
    long state = TokenChain.ROOT;
    int position = 0;
    blockTokens = event.blockTokens();
    boolean placed = grain > 0 && !event.alien() && fits(blockTokens, grain);
    if (event.hasParent()) {
      int parent = find(event.parent());
      placed &= positions[parent] > 0;
      state = keys[parent] ^ salt;
      position = positions[parent];
    }
    long[] blocks = event.blocks();
    for (int i = 0; i < blocks.length; i++) {
      if (placed) {
        for (int t = i * blockTokens; t < (i + 1) * blockTokens; t++) {
          state = TokenChain.next(state, event.tokens()[t]);
        }
        position += blockTokens;
      }
      store(blocks[i], state ^ salt, placed ? position : UNPLACED, into);
    }
  }

  private void store(long hash, long key, int position, CacheChange into) {
    int at = find(hash);
    if (positions[at] == EMPTY) {
      if ((size + 1) * 4 > positions.length * 3) {
        grow();
        at = find(hash);
      }
      hashes[at] = hash;
      size++;
      into.storedTokens(blockTokens);
    } else if (position == UNPLACED || positions[at] != UNPLACED) {
      return; // told before
    }
    keys[at] = key;
    positions[at] = position;
    if (isKey(position)) {
      into.stored(key);
    }
  }

  private boolean isKey(int position) {
    return position > 0 && position % grain == 0;
  }

  private void remove(long hash, CacheChange into) {
    int at = find(hash);
    if (positions[at] == EMPTY) {
      return; // stored before anybody listened
    }
    if (isKey(positions[at])) {
      into.removed(keys[at]);
    }
    size--;
    int mask = positions.length - 1;
    int hole = at;
    for (int i = (at + 1) & mask; positions[i] != EMPTY; i = (i + 1) & mask) {
      int home = home(hashes[i]);
      // It may fill the hole unless its home lies behind the hole, seen around the table's end.
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        hashes[hole] = hashes[i];
        keys[hole] = keys[i];
        positions[hole] = positions[i];
        hole = i;
      }
    }
    positions[hole] = EMPTY;
  }

  /** Where the hash is, or the empty place where it would be. */
  private int find(long hash) {
    int mask = positions.length - 1;
    int at = home(hash);
    while (positions[at] != EMPTY && hashes[at] != hash) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private int home(long hash) {
    return (int) ((hash * 0x9E3779B97F4A7C15L) >>> 32) & (positions.length - 1);
  }

  private void grow() {
    long[] oldHashes = hashes;
    long[] oldKeys = keys;
    int[] oldPositions = positions;
    hashes = new long[oldHashes.length * 2];
    keys = new long[hashes.length];
    positions = new int[hashes.length];
    Arrays.fill(positions, EMPTY);
    for (int i = 0; i < oldHashes.length; i++) {
      if (oldPositions[i] != EMPTY) {
        int at = find(oldHashes[i]);
        hashes[at] = oldHashes[i];
        keys[at] = oldKeys[i];
        positions[at] = oldPositions[i];
      }
    }
  }
}
