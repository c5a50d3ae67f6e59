package io.fairlead.stub.engine;

import org.jspecify.annotations.Nullable;

/**
 * One request inside the engine: its tokens, how many of them are computed, and the blocks that
 * hold them.
 */
final class Sequence {

  private static final int[] NO_BLOCKS = {};
  private static final long[] NO_IDENTITIES = {};

  /** Where a request is. */
  enum Stage {
    WAITING,
    PREFILL,
    DECODE,
    /** Out of the batch; its last tokens may still be on their way to the client. */
    OVER
  }

  final long id;
  final int promptTokens;
  final int outputTokens;
  final Adapter adapter;
  private final long[] identities;
  private final @Nullable EngineRequest request;
  private int[] blocks = NO_BLOCKS;
  private int blockCount;
  private int identified;

  // Neighbours in the waiting queue; itself while it is in none.
  Sequence before = this;
  Sequence after = this;

  Stage stage = Stage.WAITING;
  boolean cancelled;

  /** Prompt tokens found in the cache at the first admission; -1 before it. */
  int cachedTokens = -1;

  /** Prompt tokens that needed no computing at the first admission: cached, or transferred. */
  int givenTokens;

  /** Tokens computed elsewhere that come with the next admission. */
  int transferredTokens;

  /** The step during which it came, and in which nobody could look at it. */
  long arrivedDuring;

  /** Whether it waits and was passed over for its adapter. */
  boolean deferred;

  /** Orders admissions; a smaller one is the older. */
  long admission;

  /** Tokens put out; behind the truth while it decodes, see {@link #tokensAt}. */
  int generated;

  /** Tokens computed by the steps that have ended; in prefill only. */
  int computed;

  /** Tokens that the step under way computes; in prefill only. */
  int chunk;

  /** Tokens less the number of the step, which stays the same for as long as it decodes. */
  long base;

  /** The step at whose end the last token is out; set while it decodes. */
  long lastStep;

  Sequence(EngineRequest request, Adapter adapter) {
    id = request.id();
    this.request = request;
    identities = request.blocks();
    promptTokens = request.promptTokens();
    outputTokens = request.outputTokens();
    transferredTokens = request.transferredTokens();
    this.adapter = adapter;
  }

  /** No request, but the place where a queue begins and ends. */
  Sequence() {
    id = -1;
    request = null;
    identities = NO_IDENTITIES;
    promptTokens = 0;
    outputTokens = 0;
    adapter = new Adapter("");
  }

  int tokens() {
    return promptTokens + generated;
  }

  /** Tokens of a decoding sequence in the given step. */
  int tokensAt(long step) {
    return (int) (base + step);
  }

  int blockCount() {
    return blockCount;
  }

  /** Leading blocks that could be shared if the cache held them, the last token being left out. */
  int shareable(int blockTokens) {
    return Math.min(identities.length, (tokens() - 1) / blockTokens);
  }

  /** Whether the pool holds the block at {@code index} of its own. */
  boolean knownTo(BlockPool pool, int index) {
    return pool.lookup(identities[index]) != BlockPool.ABSENT;
  }

  /**
   * Notes which of its leading blocks the pool holds, for {@link #take}; the last token is never in
   * one of them: computing it yields the output.
   *
   * @return how many
   */
  int match(BlockPool pool, int blockTokens) {
    int most = shareable(blockTokens);
    if (blocks.length == 0) {
      blocks = new int[Math.ceilDiv(promptTokens + outputTokens, blockTokens)];
    }
    for (int found = 0; found < most; found++) {
      int block = pool.lookup(identities[found]);
      if (block == BlockPool.ABSENT) {
        return found;
      }
      blocks[found] = block;
    }
    return most;
  }

  /** How many of the {@code count} matched blocks nobody references now. */
  int unreferenced(BlockPool pool, int count) {
    int unreferenced = 0;
    for (int i = 0; i < count; i++) {
      if (pool.isFree(blocks[i])) {
        unreferenced++;
      }
    }
    return unreferenced;
  }

  /** Shares the {@code count} blocks that {@link #match} found, and fills up to {@code needed}. */
  void take(BlockPool pool, int count, int needed) {
    for (int i = 0; i < count; i++) {
      pool.share(blocks[i]);
    }
    blockCount = count;
    identified = count;
    while (blockCount < needed) {
      allocate(pool);
    }
  }

  void allocate(BlockPool pool) {
    blocks[blockCount++] = pool.allocate();
  }

  /**
   * Makes blocks findable that are full with the first {@code tokens}.
   *
   * @param watcher told of those that were not known before; null for nobody
   */
  void identifyFull(BlockPool pool, int tokens, int blockTokens, @Nullable EngineListener watcher) {
    int full = Math.min(identities.length, tokens / blockTokens);
    int from = identified;
    for (; identified < full; identified++) {
      if (!pool.identify(blocks[identified], identities[identified])) {
        tell(watcher, from);
        from = identified + 1;
      }
    }
    tell(watcher, from);
  }

  private void tell(@Nullable EngineListener watcher, int from) {
    if (watcher != null && request != null && from < identified) {
      watcher.stored(request, from, identified);
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
}
