package io.fairlead.stub.engine;

import java.util.Arrays;

/**
 * One request inside the engine: its tokens, how many of them are computed, and the blocks that
 * hold them.
 */
final class Sequence {

  private static final int[] NONE = {};

  final long id;
  final int promptTokens;
  final int outputTokens;
  private final long[] identities;
  private int[] blocks = NONE;
  private int blockCount;
  private int identified;

  /** Prompt tokens found in the cache at the first admission; -1 before it. */
  int cachedTokens = -1;

  int generated;
  int computed;

  /** Tokens that the step under way computes. */
  int chunk;

  boolean cancelled;

  Sequence(long id, long[] identities, int promptTokens, int outputTokens) {
    this.id = id;
    this.identities = identities;
    this.promptTokens = promptTokens;
    this.outputTokens = outputTokens;
  }

  int tokens() {
    return promptTokens + generated;
  }

  int blockCount() {
    return blockCount;
  }

  boolean decoding() {
    return generated > 0 && tokens() - computed == 1;
  }

  /**
   * Leading blocks that the pool still holds. The last token is never one of them: computing it
   * yields the output.
   */
  int cachedBlocks(BlockPool pool, int blockTokens) {
    int most = Math.min(identities.length, (tokens() - 1) / blockTokens);
    int found = 0;
    while (found < most && pool.lookup(identities[found]) != LongIntMap.ABSENT) {
      found++;
    }
    return found;
  }

  /** How many of the first {@code count} blocks, all cached, nobody references now. */
  int unreferenced(BlockPool pool, int count) {
    int unreferenced = 0;
    for (int i = 0; i < count; i++) {
      if (pool.isFree(pool.lookup(identities[i]))) {
        unreferenced++;
      }
    }
    return unreferenced;
  }

  void shareCached(BlockPool pool, int count, int blockTokens) {
    for (int i = 0; i < count; i++) {
      int block = pool.lookup(identities[i]);
      pool.share(block);
      append(block);
    }
    computed = count * blockTokens;
    identified = count;
  }

  void allocateUpTo(BlockPool pool, int count) {
    while (blockCount < count) {
      append(pool.allocate());
    }
  }

  /** Makes blocks findable that are full once the step under way has ended. */
  void identifyFull(BlockPool pool, int blockTokens) {
    int full = Math.min(identities.length, (computed + chunk) / blockTokens);
    while (identified < full) {
      pool.identify(blocks[identified], identities[identified]);
      identified++;
    }
  }

  /**
   * Gives everything back, deepest block first, so that of a cached prefix the end is lost before
   * the beginning.
   */
  void release(BlockPool pool) {
    while (blockCount > 0) {
      pool.release(blocks[--blockCount]);
    }
    computed = 0;
    identified = 0;
    chunk = 0;
  }

  private void append(int block) {
    if (blockCount == blocks.length) {
      blocks = Arrays.copyOf(blocks, Math.max(8, blockCount * 2));
    }
    blocks[blockCount++] = block;
  }
}
