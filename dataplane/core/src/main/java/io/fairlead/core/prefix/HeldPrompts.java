package io.fairlead.core.prefix;

import io.fairlead.core.handover.Knowledge;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Tells what an endpoint is believed to hold, a bounded piece at a time, while the index goes on
 * being used: what was used last first, so that what is left out in the end is the oldest. A prompt
 * that is used meanwhile may be told twice, or not at all.
 */
public final class HeldPrompts {

  private final PrefixTree tree;
  private final Runs runs;
  private final Holdings holdings;

  /** Of this piece: runs are split, dropped and numbered anew in between. */
  private final BitSet told = new BitSet();

  private int[] path = new int[16];
  private Holder holder = new Holder(0, 1);
  private long bytesLeft;

  HeldPrompts(PrefixTree tree, Runs runs, Holdings holdings) {
    this.tree = tree;
    this.runs = runs;
    this.holdings = holdings;
  }

  /**
   * Begins with an endpoint.
   *
   * @param mostBytes of hashes that are told of it
   */
  void begin(Holder of, long mostBytes) {
    holder = of;
    bytesLeft = mostBytes;
    holdings.watch(of.newest);
  }

  /**
   * Tells the next piece.
   *
   * @param mostEntries looked at
   * @param mostBlocks told, about
   * @return false when there is no more of it
   */
  public boolean next(int mostEntries, int mostBlocks, Knowledge to) {
    told.clear();
    to.cut();
    int blocks = 0;
    for (int i = 0; i < mostEntries && blocks < mostBlocks; i++) {
      int entry = holdings.watched();
      if (entry == Holdings.NONE || bytesLeft <= 0) {
        holdings.watch(Holdings.NONE);
        return false;
      }
      holdings.watch(holdings.older(entry));
      if (holdings.behind(entry) == 0) {
        int run = holdings.run(entry);
        int before = blocks;
        blocks += tell(run, to);
        to.held(run, tree.heldOf(holder, run));
        bytesLeft -= (long) Long.BYTES * (blocks - before) + Long.BYTES;
      }
    }
    return true;
  }

  /** Ends before it has told all. */
  public void stop() {
    holdings.watch(Holdings.NONE);
  }

  /** Tells the run with those before it, as far as they were not told; returns how many blocks. */
  private int tell(int last, Knowledge to) {
    int count = 0;
    for (int run = last; run != Runs.NONE && !told.get(run); run = runs.parent(run)) {
      told.set(run);
      if (count == path.length) {
        path = Arrays.copyOf(path, 2 * count);
      }
      path[count++] = run;
    }
    int sum = 0;
    for (int i = count - 1; i >= 0; i--) {
      long[] blocks = new long[runs.length(path[i])];
      for (int k = 0; k < blocks.length; k++) {
        blocks[k] = PrefixIndex.block(runs.key(path[i], k));
      }
      to.part(path[i], runs.parent(path[i]), blocks);
      sum += blocks.length;
    }
    return sum;
  }
}
