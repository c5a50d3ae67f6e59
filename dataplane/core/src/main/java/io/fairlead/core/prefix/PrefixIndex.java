package io.fairlead.core.prefix;

import com.dynatrace.hash4j.hashing.Hashing;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What the picker believes to be in endpoints' KV caches: which endpoint holds which prompt blocks,
 * learned from what was sent where. Not thread-safe; owned by the pool's loop.
 *
 * <p>An endpoint loses its least recently used blocks first, and of a prompt the last block before
 * the first, as in an engine: see {@link PrefixTree}. Prompts are kept as runs of blocks, so work
 * and memory grow with the number of places where prompts diverge, not with their lengths: 8 bytes
 * for a block, once for all endpoints, 40 for a run, and 32 for each endpoint that holds it, or
 * less where many do.
 *
 * <p>Bounds: {@link #capacity} blocks for each endpoint, and {@code maxBytes} for everything;
 * beyond that endpoints lose their least recently used runs in turns. Hashes are salted with the
 * target model at look-up, since models share no KV blocks.
 */
public final class PrefixIndex {

  /** Runs of endpoints that are gone, dropped with each prompt that is learned. */
  private static final int SWEPT_PER_PROMPT = 64;

  private static final long FACTOR = 0xD6E8FEB86659FD93L;
  private static final long INVERSE = inverse(FACTOR);

  private final int defaultCapacity;
  private final long maxBytes;
  private final PrefixTree tree = new PrefixTree();
  private final HeldPrompts telling = tree.heldPrompts();

  /** By endpoint, with its number beside it. */
  private Holder[] holders = {};

  private int[] numbers = {};

  /** By number; those of forgotten endpoints are here until they are empty. */
  private final List<Holder> numbered = new ArrayList<>();

  private final ArrayDeque<Holder> gone = new ArrayDeque<>();
  private final ArrayDeque<Integer> freeNumbers = new ArrayDeque<>();
  private int[] held = {};

  /** Whether that is of a prompt of which somebody holds something. */
  private boolean someHeld;

  private long[] done = {};
  private int nextToLose;

  /** Blocks that all endpoints have room for. */
  private long room;

  /**
   * An index that knows nothing yet.
   *
   * @param defaultCapacity blocks that an endpoint of unknown size is believed to hold, at least 1
   * @param maxBytes most memory to use, at least 1
   */
  public PrefixIndex(int defaultCapacity, long maxBytes) {
    if (defaultCapacity < 1) {
      throw new IllegalArgumentException("defaultCapacity is " + defaultCapacity + "; set 1 or up");
    }
    if (maxBytes < 1) {
      throw new IllegalArgumentException("maxBytes is " + maxBytes + "; set 1 or up");
    }
    this.defaultCapacity = defaultCapacity;
    this.maxBytes = maxBytes;
  }

  /** What to pass as {@code salt} for prompts sent to this model. */
  public static long salt(String targetModel) {
    return Hashing.wyhashFinal4().hashCharsToLong(targetModel);
  }

  /**
   * Makes room for an endpoint that holds nothing, whoever had the number before. Takes no longer
   * however much that one held: it is dropped bit by bit later.
   */
  public void forget(int endpoint) {
    if (endpoint >= holders.length) {
      holders = Arrays.copyOf(holders, Math.max(endpoint + 1, holders.length * 2));
      numbers = Arrays.copyOf(numbers, holders.length);
    }
    Holder before = holders[endpoint];
    room += defaultCapacity;
    if (before != null) {
      room -= before.capacity;
      if (before.size == 0) {
        before.capacity = defaultCapacity;
        before.expected = 0;
        return;
      }
      gone.add(before);
    }
    holders[endpoint] = newHolder();
    numbers[endpoint] = holders[endpoint].id;
  }

  /** An endpoint is gone, with what it held; whoever has its number next is made room for anew. */
  public void leave(int endpoint) {
    forget(endpoint);
    room -= holders[endpoint].capacity;
    holders[endpoint].capacity = 0;
  }

  /** Sets how many blocks an endpoint can hold, at least 1; drops what is too much. */
  public void capacity(int endpoint, int blocks) {
    if (blocks < 1) {
      throw new IllegalArgumentException("capacity is " + blocks + "; set 1 or up");
    }
    room += blocks - holders[endpoint].capacity;
    holders[endpoint].capacity = blocks;
    tree.trim(holders[endpoint], room);
  }

  /** Blocks that an endpoint is believed to hold. */
  public int size(int endpoint) {
    return holders[endpoint].size;
  }

  /**
   * How likely a block that an endpoint stores drives out one that is asked for again when nobody
   * has it any more, from 0 to 1.
   */
  public double ghostHits() {
    return tree.ghostHits();
  }

  /** Bytes of what is in the index now. */
  public long bytes() {
    return tree.liveBytes();
  }

  /** Bytes of the heap that the index has taken, with room to grow. */
  public long allocatedBytes() {
    return tree.allocatedBytes();
  }

  /**
   * Finds out who holds how much of a prompt; {@link #held} tells it until the next call of any.
   *
   * @return whether anybody holds anything of it
   */
  public boolean lookUp(long salt, long[] blocks, int count) {
    tree.follow(salt, blocks, count);
    boolean some = !tree.isNew();
    if (some || someHeld) {
      tree.held(held, done);
    }
    someHeld = some;
    return some;
  }

  /** How many leading blocks of the prompt last looked up this endpoint is believed to hold. */
  public int held(int endpoint) {
    return held[numbers[endpoint]];
  }

  /** The same of many endpoints. */
  public void held(int[] endpoints, int count, int[] into) {
    int[] blocks = held;
    int[] number = numbers;
    for (int i = 0; i < count; i++) {
      into[i] = blocks[number[endpoints[i]]];
    }
  }

  /**
   * A prompt was sent to this endpoint: it will hold its first {@code most} blocks, as far as it
   * has room, and has used them just now. As an engine drives out others only for what it computes,
   * the endpoint may hold more than it has room for until the prompt is {@link #noMoreExpected}.
   *
   * @return blocks of it that it did not hold before
   */
  public int expect(int endpoint, long salt, long[] blocks, int most) {
    Holder holder = holders[endpoint];
    int added = use(holder, salt, blocks, most);
    holder.expected += added;
    tree.trim(holder, room);
    return added;
  }

  /**
   * A prompt that was expected is computed, or never will be.
   *
   * @param added what {@link #expect} has returned of it
   */
  public void noMoreExpected(int endpoint, int added) {
    Holder holder = holders[endpoint];
    // Of a holder that has been forgotten since nothing is expected.
    holder.expected = Math.max(0, holder.expected - added);
    tree.trim(holder, room);
  }

  /** This endpoint has computed a prompt's first {@code most} blocks, or used them once more. */
  public void learn(int endpoint, long salt, long[] blocks, int most) {
    Holder holder = holders[endpoint];
    use(holder, salt, blocks, most);
    tree.trim(holder, room);
  }

  /** Returns how many more it holds than before. */
  private int use(Holder holder, long salt, long[] blocks, int most) {
    int count = Math.min(most, holder.capacity);
    sweep();
    loseAbove(maxBytes - (long) Long.BYTES * count);
    int before = holder.size;
    tree.use(holder, salt, blocks, count);
    return holder.size - before;
  }

  /**
   * A prompt was not computed there after all: of its first {@code count} blocks only the first
   * {@code kept} stay.
   */
  public void withdraw(int endpoint, long salt, long[] blocks, int count, int kept) {
    tree.follow(salt, blocks, count);
    tree.dropBehind(holders[endpoint], kept);
  }

  /** What stands for a block of this model in the tree. */
  static long key(long salt, long block) {
    long z = (block ^ salt) * FACTOR;
    return z ^ (z >>> 32);
  }

  /** What stands for the blocks from {@code from} to {@code to}. */
  static long[] keys(long salt, long[] blocks, int from, int to) {
    long[] keys = new long[to - from];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = key(salt, blocks[from + i]);
    }
    return keys;
  }

  /** The block, salted, that a key stands for. */
  static long block(long key) {
    return (key ^ (key >>> 32)) * INVERSE;
  }

  /** The number whose product with an odd one is 1, by Newton's method. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int right = 3; right < Long.SIZE; right *= 2) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }

  /**
   * Begins to tell what an endpoint holds; whoever was told of another before is told no more.
   *
   * @param mostBytes of hashes that are told
   */
  public HeldPrompts tell(int endpoint, long mostBytes) {
    telling.begin(holders[endpoint], mostBytes);
    return telling;
  }

  /** Blocks that an endpoint has room for, as believed. */
  public int capacity(int endpoint) {
    return holders[endpoint].capacity;
  }

  private Holder newHolder() {
    Integer free = freeNumbers.poll();
    Holder holder = new Holder(free == null ? numbered.size() : free, defaultCapacity);
    if (free == null) {
      numbered.add(holder);
      if (numbered.size() > held.length) {
        held = new int[Math.max(64, held.length * 2)];
        done = new long[held.length / 64];
      }
    } else {
      numbered.set(free, holder);
    }
    tree.join(holder);
    return holder;
  }

  private void sweep() {
    for (int i = 0; i < SWEPT_PER_PROMPT && !gone.isEmpty(); i++) {
      Holder first = gone.peek();
      if (first.oldest == Holdings.NONE) {
        freeNumbers.add(gone.remove().id);
      } else {
        tree.dropOldest(first);
      }
    }
  }

  /** Lets endpoints lose their oldest runs in turns, until no more than this is there. */
  private void loseAbove(long bytes) {
    for (int empty = 0; empty < numbered.size() && tree.liveBytes() > bytes; ) {
      nextToLose = nextToLose + 1 < numbered.size() ? nextToLose + 1 : 0;
      Holder next = numbered.get(nextToLose);
      if (next.oldest == Holdings.NONE) {
        empty++;
      } else {
        empty = 0;
        tree.dropOldest(next);
      }
    }
  }
}
