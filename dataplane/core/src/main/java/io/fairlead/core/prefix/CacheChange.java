package io.fairlead.core.prefix;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How what is known of an engine's cache has changed: made by {@link EngineCache} wherever events
 * come in, and handed over to whoever owns the {@link ExactIndex}.
 */
public final class CacheChange {

  private static final int CLEARED = 0;

  /** By key, in order; a run is positive for keys that came, negative for those that went. */
  private long[] keys = new long[8];

  private int count;
  private int[] runs = new int[4];
  private int runCount;
  private int blocks;
  private int blockTokens;
  private long storedTokens;
  private boolean whole;
  private boolean emptied;
  private boolean lost;

  /** Who is told, in order. */
  interface Visitor {

    void stored(long key);

    void removed(long key);

    void cleared();
  }

  void stored(long key) {
    add(key, 1);
  }

  void removed(long key) {
    add(key, -1);
  }

  /** What the engine has isn't known any more. */
  void cleared() {
    // What was before it does not matter any more.
    count = 0;
    runCount = 0;
    run(CLEARED);
  }

  /** The engine holds nothing. */
  void emptied() {
    cleared();
    emptied = true;
  }

  private void add(long key, int sign) {
    if (count == keys.length) {
      keys = Arrays.copyOf(keys, count * 2);
    }
    keys[count++] = key;
    if (runCount > 0 && Integer.signum(runs[runCount - 1]) == sign) {
      runs[runCount - 1] += sign;
    } else {
      run(sign);
    }
  }

  private void run(int first) {
    if (runCount == runs.length) {
      runs = Arrays.copyOf(runs, runCount * 2);
    }
    runs[runCount++] = first;
  }

  void storedTokens(long tokens) {
    storedTokens += tokens;
  }

  void blockTokens(int tokens) {
    blockTokens = tokens;
  }

  void blocks(int held) {
    blocks = held;
  }

  /**
   * Says how far what is known goes.
   *
   * @param all whether nothing is there that is not known
   */
  public CacheChange whole(boolean all) {
    whole = all;
    return this;
  }

  /** Nothing is known of the engine's cache any more, and nothing will be told until it is. */
  public static CacheChange ofLoss() {
    CacheChange change = new CacheChange();
    change.cleared();
    change.lost = true;
    return change;
  }

  /** Keys that came or went. */
  public int size() {
    return count;
  }

  /**
   * The same in changes that take little time each, to be taken in one after another. Until the
   * last of them not all is known.
   *
   * @param mostKeys of one, at least 1
   */
  public List<CacheChange> pieces(int mostKeys) {
    if (count <= mostKeys) {
      return List.of(this);
    }
    List<CacheChange> pieces = new ArrayList<>();
    CacheChange piece = new CacheChange();
    pieces.add(piece);
    piece.emptied = emptied;
    piece.storedTokens = storedTokens;
    int at = 0;
    for (int i = 0; i < runCount; i++) {
      int run = runs[i];
      if (run == CLEARED) {
        piece.run(CLEARED);
      }
      for (int end = at + Math.abs(run); at < end; at++) {
        if (piece.count == mostKeys) {
          piece = new CacheChange();
          pieces.add(piece);
        }
        piece.add(keys[at], Integer.signum(run));
      }
    }
    for (CacheChange each : pieces) {
      each.blocks = blocks;
      each.blockTokens = blockTokens;
    }
    piece.whole = whole;
    return pieces;
  }

  void visit(Visitor to) {
    int at = 0;
    for (int i = 0; i < runCount; i++) {
      int run = runs[i];
      if (run == CLEARED) {
        to.cleared();
      }
      for (int end = at + Math.abs(run); at < end; at++) {
        if (run > 0) {
          to.stored(keys[at]);
        } else {
          to.removed(keys[at]);
        }
      }
    }
  }

  /** Whether all that was known before is out of date. */
  public boolean clears() {
    return runCount > 0 && runs[0] == CLEARED;
  }

  /** Whether the engine held nothing at some time since the last change. */
  public boolean isEmptied() {
    return emptied;
  }

  /** Whether nothing more will be told. */
  public boolean isLoss() {
    return lost;
  }

  /** Blocks that the engine holds, as far as it has told. */
  public int blocks() {
    return blocks;
  }

  /** Tokens of a block; 0 while none was stored. */
  public int blockTokens() {
    return blockTokens;
  }

  /** Tokens of the blocks that came. */
  public long storedTokens() {
    return storedTokens;
  }

  /** Whether all that the engine holds is known. */
  public boolean isWhole() {
    return whole;
  }
}
