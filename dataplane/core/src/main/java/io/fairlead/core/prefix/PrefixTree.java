package io.fairlead.core.prefix;

import java.util.Arrays;

/**
 * Prompts as a tree of runs, and who holds which of them. What a holder has always nests: a run is
 * held only together with all of every run before it. This follows from using a prompt's runs last
 * first, so that a holder's oldest run has no held run behind it, and taking blocks off that one's
 * end, as an engine does.
 */
final class PrefixTree {

  private final Runs runs = new Runs();
  private final Holdings holdings = new Holdings();
  private final HolderSets sets = new HolderSets(runs, holdings);
  private final GhostBlocks ghosts = new GhostBlocks();

  /** By number; a number is used again when its holder is empty and gone. */
  private Holder[] holders = {};

  /**
   * By holder: the run of which it holds only the first so many blocks, or none. There is at most
   * one, and it is the oldest: the end of what was used least recently goes first.
   */
  private int[] partial = {};

  private int[] partialLength = {};
  private int[] someHolders = {};

  /** The runs along the current prompt, and how many blocks of the last one the prompt has. */
  private int[] path = new int[16];

  private int pathLength;
  private int lastCommon;

  /** Makes the holder known under its number. */
  void join(Holder holder) {
    if (holder.id >= holders.length) {
      holders = Arrays.copyOf(holders, Math.max(16, Math.max(holder.id + 1, holders.length * 2)));
      partial = Arrays.copyOf(partial, holders.length);
      partialLength = Arrays.copyOf(partialLength, holders.length);
      someHolders = new int[holders.length];
      sets.reserve(holders.length);
    }
    holders[holder.id] = holder;
    partial[holder.id] = Runs.NONE;
  }

  long liveBytes() {
    return runs.liveBytes() + holdings.liveBytes();
  }

  long allocatedBytes() {
    return runs.allocatedBytes() + holdings.allocatedBytes() + ghosts.bytes();
  }

  /** Follows a prompt's first {@code count} blocks as far as anybody holds them. */
  void follow(long salt, long[] blocks, int count) {
    pathLength = 0;
    int at = 0;
    while (at < count) {
      int run = runs.find(PrefixIndex.key(salt, blocks[at]), at);
      if (run == Runs.NONE || runs.parent(run) != before()) {
        return;
      }
      lastCommon = runs.common(run, salt, blocks, at, count);
      step(run);
      at += lastCommon;
      if (lastCommon < runs.length(run)) {
        return;
      }
    }
  }

  /** Whether nobody has anything of the prompt last followed. */
  boolean isNew() {
    return pathLength == 0;
  }

  /**
   * How many blocks of the prompt last followed each holder has. Deepest runs come first, so that
   * each holder is looked at once.
   *
   * @param held filled in for every holder's number
   * @param done scratch, one bit per holder
   */
  void held(int[] held, long[] done) {
    Arrays.fill(held, 0);
    Arrays.fill(done, 0);
    for (int i = pathLength - 1; i >= 0; i--) {
      int run = path[i];
      int common = i == pathLength - 1 ? lastCommon : runs.length(run);
      int whole = runs.depth(run) + common;
      boolean partials = runs.partials(run) > 0;
      long[] bits = runs.holderBits(run);
      for (int w = 0; w < bits.length; w++) {
        long left = bits[w] & ~done[w];
        done[w] |= left;
        if (!partials) {
          fill(held, w << 6, left, whole);
          continue;
        }
        for (; left != 0; left &= left - 1) {
          int holder = w << 6 | Long.numberOfTrailingZeros(left);
          held[holder] = whole - missing(run, holder, common);
        }
      }
      for (int e = runs.firstEntry(run); e != Holdings.NONE; e = holdings.next(e)) {
        int holder = holdings.holder(e);
        if (held[holder] == 0) {
          held[holder] = whole - (partials ? missing(run, holder, common) : 0);
          done[holder >>> 6] |= 1L << holder;
        }
      }
    }
  }

  /** Fills in a value where there is a bit: those in a row at once, since most often many are. */
  private static void fill(int[] into, int from, long bits, int value) {
    int at = from;
    for (long left = bits; left != 0; ) {
      int gap = Long.numberOfTrailingZeros(left);
      at += gap;
      left >>>= gap;
      int row = Long.numberOfTrailingZeros(~left);
      for (int end = at + row; at < end; at++) {
        into[at] = value;
      }
      left = row == Long.SIZE ? 0 : left >>> row;
    }
  }

  /** How many of a run's first {@code common} blocks a holder of it has lost. */
  private int missing(int run, int holder, int common) {
    return partial[holder] == run ? Math.max(0, common - partialLength[holder]) : 0;
  }

  /** The holder has used a prompt's first {@code count} blocks; may leave it above its capacity. */
  void use(Holder holder, long salt, long[] blocks, int count) {
    pathLength = 0;
    int at = 0;
    while (at < count) {
      int run = runs.find(PrefixIndex.key(salt, blocks[at]), at);
      if (run == Runs.NONE) {
        long[] keys = PrefixIndex.keys(salt, blocks, at, count);
        ghosts.computed(keys);
        run = runs.add(keys, at, before());
        step(run);
        break;
      }
      if (runs.parent(run) != before()) {
        // Two prompts with the same hash at the same depth, as who wants to can find: one is
        // enough.
        break;
      }
      int common = runs.common(run, salt, blocks, at, count);
      step(common < runs.length(run) ? split(run, common) : run);
      at += common;
    }
    int before = holder.size;
    boolean newBehind = false;
    for (int i = pathLength - 1; i >= 0; i--) {
      newBehind = use(holder, path[i], newBehind);
    }
    ghosts.stored(holder.size - before);
  }

  /** Who can tell what holders have. */
  HeldPrompts heldPrompts() {
    return new HeldPrompts(this, runs, holdings);
  }

  /** How many blocks of a run the holder has that holds it. */
  int heldOf(Holder holder, int run) {
    return partial[holder.id] == run ? partialLength[holder.id] : runs.length(run);
  }

  /**
   * Takes blocks off the end of what the holder used least recently, down to its capacity and what
   * is expected beyond it.
   *
   * @param all blocks that all holders have room for
   */
  void trim(Holder holder, long all) {
    int most = (int) Math.min(Integer.MAX_VALUE, (long) holder.capacity + holder.expected);
    while (holder.size > most) {
      int run = holdings.run(holder.oldest);
      int held = heldOf(holder, run);
      int excess = holder.size - most;
      loses(run, Math.max(0, held - excess), held, all);
      if (excess >= held) {
        dropOldest(holder);
      } else {
        shorten(holder, run, held - excess);
      }
    }
  }

  /** One of its holders loses a run's blocks from {@code from} to {@code to} for want of room. */
  private void loses(int run, int from, int to, long all) {
    ghosts.lost(to - from, all);
    if (runs.holders(run) == 1) {
      ghosts.gone(runs.keys(run), from, to);
    }
  }

  /** Share of the blocks stored of late that drove out one that was asked for again: 0 to 1. */
  double ghostHits() {
    return ghosts.hits();
  }

  /** Drops the run that the holder used least recently. */
  void dropOldest(Holder holder) {
    drop(holder, holder.oldest);
  }

  /**
   * Drops what the holder has of the prompt last followed beyond its first {@code kept} blocks, as
   * far as no other prompt of its needs it.
   */
  void dropBehind(Holder holder, int kept) {
    int last = pathLength - 1;
    if (last >= 0 && lastCommon < runs.length(path[last])) {
      return;
    }
    for (int i = last; i >= 0 && runs.depth(path[i]) >= kept; i--) {
      int entry = holdings.find(path[i], holder.id);
      if (entry != Holdings.NONE) {
        if (holdings.behind(entry) > 0) {
          return;
        }
        drop(holder, entry);
      }
    }
  }

  /** The run that the current prompt has come from. */
  private int before() {
    return pathLength == 0 ? Runs.NONE : path[pathLength - 1];
  }

  private void step(int run) {
    if (pathLength == path.length) {
      path = Arrays.copyOf(path, pathLength * 2);
    }
    path[pathLength++] = run;
  }

  /**
   * Makes a run the holder's newest.
   *
   * @param newBehind whether the holder has got a run behind it just now
   * @return whether the holder did not have it before
   */
  private boolean use(Holder holder, int run, boolean newBehind) {
    int entry = holdings.find(run, holder.id);
    boolean added = entry == Holdings.NONE;
    if (added) {
      entry = holdings.add(run, holder.id);
      sets.add(run, entry);
      holder.size += runs.length(run);
    } else {
      holdings.unlink(holder, entry);
      if (partial[holder.id] == run) {
        holder.size += runs.length(run) - partialLength[holder.id];
        whole(holder);
      }
    }
    if (newBehind) {
      holdings.behind(entry, holdings.behind(entry) + 1);
    }
    holdings.linkNewest(holder, entry);
    return added;
  }

  private void drop(Holder holder, int entry) {
    int run = holdings.run(entry);
    if (partial[holder.id] == run) {
      holder.size -= partialLength[holder.id];
      whole(holder);
    } else {
      holder.size -= runs.length(run);
    }
    if (runs.parent(run) != Runs.NONE) {
      int before = holdings.find(runs.parent(run), holder.id);
      holdings.behind(before, holdings.behind(before) - 1);
    }
    unlink(holder, run, entry);
    if (runs.holders(run) == 0) {
      runs.remove(run);
    } else {
      shortenToLongest(run);
    }
  }

  private void unlink(Holder holder, int run, int entry) {
    holdings.unlink(holder, entry);
    sets.remove(run, entry);
    holdings.remove(entry);
  }

  private void shorten(Holder holder, int run, int to) {
    int held = partial[holder.id] == run ? partialLength[holder.id] : runs.length(run);
    holder.size -= held - to;
    if (partial[holder.id] != run) {
      partial[holder.id] = run;
      runs.partials(run, runs.partials(run) + 1);
    }
    partialLength[holder.id] = to;
    shortenToLongest(run);
  }

  private void whole(Holder holder) {
    runs.partials(partial[holder.id], runs.partials(partial[holder.id]) - 1);
    partial[holder.id] = Runs.NONE;
  }

  /** A run is as long as what some holder has of it. */
  private void shortenToLongest(int run) {
    int count = runs.holders(run);
    if (count > runs.partials(run)) {
      return;
    }
    sets.copy(run, someHolders);
    int longest = 0;
    for (int i = 0; i < count; i++) {
      longest = Math.max(longest, partialLength[someHolders[i]]);
    }
    runs.shorten(run, longest);
    for (int i = 0; i < count; i++) {
      Holder each = holders[someHolders[i]];
      if (partialLength[each.id] == longest) {
        whole(each);
      }
    }
  }

  /**
   * Parts a run: its first {@code at} blocks become a new run, the old one keeps the rest and what
   * is behind it. Returns the new one.
   */
  private int split(int run, int at) {
    int head = runs.split(run, at);
    int count = sets.copy(run, someHolders);
    for (int i = 0; i < count; i++) {
      Holder each = holders[someHolders[i]];
      int entry = holdings.find(run, each.id);
      int headEntry = holdings.add(head, each.id);
      sets.add(head, headEntry);
      holdings.linkNewer(each, headEntry, entry);
      if (partial[each.id] != run || partialLength[each.id] > at) {
        holdings.behind(headEntry, 1);
        if (partial[each.id] == run) {
          partialLength[each.id] -= at;
        }
        continue;
      }
      unlink(each, run, entry);
      runs.partials(run, runs.partials(run) - 1);
      if (partialLength[each.id] == at) {
        partial[each.id] = Runs.NONE;
      } else {
        partial[each.id] = head;
        runs.partials(head, runs.partials(head) + 1);
      }
    }
    return head;
  }
}
