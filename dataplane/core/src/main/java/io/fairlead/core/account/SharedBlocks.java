package io.fairlead.core.account;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How many blocks the prompts in flight at one endpoint have in common: an engine keeps such a
 * block once, however many requests use it.
 *
 * <p>A block's hash stands for all that is before it, so prompts share their heads and nothing
 * else. Looking at a few depths is enough, then: each of the first blocks, and four depths in each
 * doubling from there on, each for the blocks since the one before it. What is told is below the
 * truth by less than a quarter of it, and a prompt of 32,000 tokens takes some 40 look-ups.
 */
public final class SharedBlocks {

  /** Depths looked at in a doubling. */
  private static final int PER_DOUBLING = 4;

  private static final int SMALLEST = 16;
  private static final long NOBODY = 0;

  /** Open addressing with linear probing, at most half full; 0 where there is nothing. */
  private long[] keys = new long[SMALLEST];

  /** How many prompts have the block of this key. */
  private int[] prompts = new int[SMALLEST];

  private int size;
  private long repeated;

  /** Of the prompt that is being removed. */
  private long[] sample = {};

  /** Prompts that are there. */
  private int members;

  /** The only prompt, as long as it was alone: it shares with nobody, so nothing is noted of it. */
  private long @Nullable [] onlyBlocks;

  private long onlySalt;
  private int onlyCount;

  /** Blocks that are there for each of those who share them, less those that the engine keeps. */
  public long repeated() {
    return repeated;
  }

  /**
   * A prompt is there from now on.
   *
   * @param salt what its model's blocks are told from others' by
   * @param blocks chained hashes of its blocks
   * @param count how many of them count
   */
  public void add(long salt, long[] blocks, int count) {
    if (members++ == 0) {
      onlySalt = salt;
      onlyBlocks = blocks;
      onlyCount = count;
      return;
    }
    if (onlyBlocks != null) {
      enter(onlySalt, onlyBlocks, onlyCount);
      onlyBlocks = null;
    }
    enter(salt, blocks, count);
  }

  private void enter(long salt, long[] blocks, int count) {
    for (int depth = 1, before = 0; depth <= count; before = depth, depth = nextDepth(depth)) {
      if (2 * (size + 1) > keys.length) {
        grow();
      }
      long key = key(salt, blocks[depth - 1]);
      int at = find(key);
      if (keys[at] == NOBODY) {
        keys[at] = key;
        size++;
      } else {
        repeated += depth - before;
      }
      prompts[at]++;
    }
  }

  /** A prompt that was added, with the same arguments, is there no longer. */
  public void remove(long salt, long[] blocks, int count) {
    sample = sample(blocks, count, sample);
    removeSampled(salt, sample, count);
  }

  /**
   * The hashes that are looked at of a prompt, one behind the other: all that {@link
   * #removeSampled} needs, some 50 of 2,048.
   *
   * @param reused where to, if it is long enough
   */
  public static long[] sample(long[] blocks, int count, long[] reused) {
    long[] sample = reused;
    int at = 0;
    for (int depth = 1; depth <= count; depth = nextDepth(depth)) {
      if (at == sample.length) {
        sample = Arrays.copyOf(sample, Math.max(SMALLEST, 2 * at));
      }
      sample[at++] = blocks[depth - 1];
    }
    return sample;
  }

  /** The same as {@link #remove} for who has kept no more of a prompt than its sample. */
  public void removeSampled(long salt, long[] sampled, int count) {
    members--;
    if (onlyBlocks != null) {
      onlyBlocks = null;
      return;
    }
    int i = 0;
    for (int depth = 1, before = 0; depth <= count; before = depth, depth = nextDepth(depth)) {
      int at = find(key(salt, sampled[i++]));
      if (--prompts[at] == 0) {
        free(at);
      } else {
        repeated -= depth - before;
      }
    }
  }

  /** The next depth that is looked at. */
  public static int nextDepth(int depth) {
    return depth + Math.max(1, Integer.highestOneBit(depth) / PER_DOUBLING);
  }

  /** What a block's hash is looked up by. */
  public static long key(long salt, long block) {
    long key = (block ^ salt) * 0x9E3779B97F4A7C15L;
    return key == NOBODY ? 1 : key;
  }

  /** Where the key is, or would go. */
  private int find(long key) {
    int mask = keys.length - 1;
    int at = home(key, mask);
    while (keys[at] != NOBODY && keys[at] != key) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private static int home(long key, int mask) {
    return (int) (key >>> 32) & mask;
  }

  /** Moves those behind it back, so that none is cut off from where its search begins. */
  private void free(int cell) {
    int mask = keys.length - 1;
    int hole = cell;
    for (int at = (hole + 1) & mask; keys[at] != NOBODY; at = (at + 1) & mask) {
      if (((at - home(keys[at], mask)) & mask) >= ((at - hole) & mask)) {
        keys[hole] = keys[at];
        prompts[hole] = prompts[at];
        hole = at;
      }
    }
    keys[hole] = NOBODY;
    prompts[hole] = 0;
    size--;
  }

  private void grow() {
    long[] oldKeys = keys;
    int[] oldPrompts = prompts;
    keys = new long[oldKeys.length * 2];
    prompts = new int[keys.length];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != NOBODY) {
        int at = find(oldKeys[i]);
        keys[at] = oldKeys[i];
        prompts[at] = oldPrompts[i];
      }
    }
  }
}
