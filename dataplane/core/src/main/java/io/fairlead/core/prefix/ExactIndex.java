package io.fairlead.core.prefix;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which endpoint holds which prompt blocks, as their engines say: what {@link PrefixIndex} guesses
 * from what was sent. Beside it, which blocks a request that was sent will leave there: its engine
 * tells of them only when it gets to it. Not thread-safe; owned by the pool's loop.
 *
 * <p>A block is the state of a {@link TokenChain} at its end, so that one look-up says how much of
 * a prompt each endpoint holds. Blocks have a record each, 24 bytes, once for all endpoints; those
 * who hold one are a {@link SharedSets set}. A prompt is followed record by record, and endpoints
 * are looked at only where the set is another than before.
 *
 * <p>An endpoint that is forgotten takes no time: its number is given up, and taken out of the
 * records bit by bit later, some with each change. Meanwhile a quarter more than the most memory
 * may be used: for each key that comes, eight records are looked at, so that two rounds over all
 * records, after which nothing is left of whoever had gone before, are over before more has come.
 */
public final class ExactIndex {

  private static final int NONE = IntTable.NONE;

  private static final int CHUNK_BITS = 12;
  private static final int CHUNK = 1 << CHUNK_BITS;
  private static final int MASK = CHUNK - 1;

  /** A key, a set, and a cell of the table with room to grow. */
  private static final int NODE_BYTES = Long.BYTES + Integer.BYTES + 3 * Integer.BYTES;

  /** Records that are rid of those who are gone, with each change and each of its keys. */
  private static final int SWEPT = 512;

  private static final int SWEPT_PER_KEY = 8;

  private final long maxBytes;
  private SharedSets sets = new SharedSets();

  /** Of each record, by number. One that is free has the next free one for a key, and nobody. */
  private long[][] keys = {};

  private int[][] holders = {};
  private int used;
  private int freeNode = NONE;
  private int live;

  private IntTable byKey = table();

  /** By slot; null where nothing is known. */
  private @Nullable View[] views = new @Nullable View[0];

  private int known;

  /**
   * Slots for which there was no room: nothing is taken in until all is told from the beginning.
   */
  private final BitSet refused = new BitSet();

  /** By number: whose it is. Two numbers of one view follow each other. */
  private final List<View> numbered = new ArrayList<>();

  private final ArrayDeque<Integer> freeNumbers = new ArrayDeque<>();
  private List<Integer> gone = new ArrayList<>();
  private List<Integer> sweeping = new ArrayList<>();

  private int cursor;

  /** Of the last look-up, by number of a view: keys of the prompt that it holds. */
  private int[] held = {};

  private int[] alive = {};
  private int[] members = {};
  private int[] strides = {};
  private int strideCount;

  /** What is known of one endpoint. */
  private static final class View {

    private final int number;

    /** Keys of a prompt from one block's end to the next. */
    private int stride = 1;

    private int blockTokens;
    private int blocks;
    private boolean whole;

    private View(int number) {
      this.number = number;
    }

    private int stored() {
      return 2 * number;
    }

    private int expected() {
      return 2 * number + 1;
    }
  }

  /**
   * An index that knows nothing yet.
   *
   * @param maxBytes most memory to use, at least 1
   */
  public ExactIndex(long maxBytes) {
    if (maxBytes < 1) {
      throw new IllegalArgumentException("maxBytes is " + maxBytes + "; set 1 or up");
    }
    this.maxBytes = maxBytes;
  }

  /** Whether an engine has told anything. */
  public boolean knowsAny() {
    return known > 0;
  }

  /** Whether this endpoint's engine tells what it holds. */
  public boolean knows(int slot) {
    return known(slot) != null;
  }

  private @Nullable View known(int slot) {
    return slot < views.length ? views[slot] : null;
  }

  /** Whether nothing is there that the engine has not told. */
  public boolean knowsAll(int slot) {
    View view = known(slot);
    return view != null && view.whole;
  }

  /** Blocks of its own size that the engine says it holds; 0 where it tells nothing. */
  public int blocks(int slot) {
    View view = known(slot);
    return view == null ? 0 : view.blocks;
  }

  /** Bytes of what is in the index now. */
  public long bytes() {
    return (long) live * NODE_BYTES + sets.bytes();
  }

  /**
   * Takes in what an engine has told.
   *
   * @param grain tokens between two keys; 0 where blocks are only counted
   * @return false if there is no room for it: nothing is known of the endpoint then, until a change
   *     comes that {@link CacheChange#clears}
   */
  public boolean change(int slot, int grain, CacheChange change) {
    sweep(SWEPT + SWEPT_PER_KEY * change.size());
    if (refused.get(slot) && !change.clears()) {
      return false;
    }
    refused.clear(slot);
    if (change.clears()) {
      drop(slot);
    }
    if (change.isLoss()) {
      return true;
    }
    View view = view(slot);
    view.blocks = change.blocks();
    view.whole = change.isWhole();
    if (change.blockTokens() > 0 && change.blockTokens() != view.blockTokens) {
      view.blockTokens = change.blockTokens();
      view.stride = grain == 0 ? 1 : Math.max(1, change.blockTokens() / grain);
      countStrides();
    }
    change.visit(
        new CacheChange.Visitor() {
          @Override
          public void stored(long key) {
            int node = findOrAdd(key);
            int now = sets.with(holder(node), view.stored());
            holder(node, sets.without(now, view.expected()));
          }

          @Override
          public void removed(long key) {
            take(key, view.stored());
          }

          @Override
          public void cleared() {
            // Its former number is given up.
          }
        });
    boolean swept = gone.isEmpty() && sweeping.isEmpty();
    if (bytes() > (swept ? maxBytes : maxBytes + maxBytes / 4)) {
      drop(slot);
      refused.set(slot);
      return false;
    }
    return true;
  }

  /** Nothing is known of the endpoint any more. */
  public void forget(int slot) {
    refused.clear(slot);
    drop(slot);
  }

  private void drop(int slot) {
    View view = known(slot);
    if (view != null) {
      gone.add(view.number);
      views[slot] = null;
      known--;
      countStrides();
      if (known == 0) {
        forgetAll();
      }
    }
  }

  /** Gives all memory back at once: nobody is known any more. */
  private void forgetAll() {
    sets = new SharedSets();
    byKey = table();
    keys = new long[0][];
    holders = new int[0][];
    used = 0;
    freeNode = NONE;
    live = 0;
    numbered.clear();
    freeNumbers.clear();
    gone.clear();
    sweeping.clear();
  }

  private IntTable table() {
    return new IntTable() {
      @Override
      int hash(int node) {
        return mix(key(node));
      }
    };
  }

  /**
   * Finds out who holds how much of a prompt; {@link #tokens} tells it until the next call of any.
   *
   * @param salt of the adapter, see {@link TokenChain#salt}
   */
  public void lookUp(long salt, PromptTokens prompt) {
    Arrays.fill(held, 0);
    for (int i = 0; i < strideCount; i++) {
      follow(salt, prompt.keys(), strides[i]);
    }
  }

  /**
   * Tokens of the prompt last looked up that the endpoint holds or will have got; the engine
   * computes the last one of a prompt in any case, with the rest of its block.
   */
  public int tokens(int slot, PromptTokens prompt) {
    View view = Objects.requireNonNull(known(slot));
    int block = view.blockTokens > 0 ? view.blockTokens : prompt.grain();
    int most = prompt.count() - 1;
    most -= most % block;
    return Math.max(0, Math.min(most, held[view.number] * prompt.grain()));
  }

  /** Keys of the prompt last looked up that the endpoint holds. */
  public int held(int slot) {
    return held[Objects.requireNonNull(known(slot)).number];
  }

  /**
   * A prompt was sent there: its engine will hold it, and tells so later.
   *
   * @param from how many of its keys it holds already
   */
  public void expect(int slot, long salt, PromptTokens prompt, int from) {
    View view = known(slot);
    if (view == null || bytes() + (long) (prompt.keys().length - from) * NODE_BYTES > maxBytes) {
      return;
    }
    for (int i = last(from, view.stride); i < prompt.keys().length; i += view.stride) {
      int node = findOrAdd(prompt.keys()[i] ^ salt);
      if (!sets.has(holder(node), view.stored())) {
        holder(node, sets.with(holder(node), view.expected()));
      }
    }
  }

  /** It is over: what the engine has told counts, and nothing else. */
  public void expectNoMore(int slot, long salt, PromptTokens prompt, int from) {
    View view = known(slot);
    if (view != null) {
      for (int i = last(from, view.stride); i < prompt.keys().length; i += view.stride) {
        take(prompt.keys()[i] ^ salt, view.expected());
      }
    }
  }

  /** The last key of the block in which this one is. */
  private static int last(int key, int stride) {
    return key - key % stride + stride - 1;
  }

  private View view(int slot) {
    if (slot >= views.length) {
      views = Arrays.copyOf(views, Math.max(16, Math.max(slot + 1, views.length * 2)));
    }
    View view = views[slot];
    if (view == null) {
      Integer free = freeNumbers.poll();
      view = new View(free == null ? numbered.size() : free);
      if (free == null) {
        numbered.add(view);
        if (numbered.size() > held.length) {
          held = new int[Math.max(16, held.length * 2)];
          alive = new int[held.length];
          members = new int[2 * held.length];
        }
      } else {
        numbered.set(free, view);
      }
      views[slot] = view;
      known++;
      countStrides();
    }
    return view;
  }

  private void countStrides() {
    strides =
        Arrays.stream(views)
            .filter(Objects::nonNull)
            .mapToInt(view -> view.stride)
            .distinct()
            .toArray();
    strideCount = strides.length;
  }

  /** Follows a prompt as far as anybody whose blocks are so long holds it. */
  private void follow(long salt, long[] prompt, int stride) {
    int size = 0;
    int before = SharedSets.NOBODY;
    int node = NONE;
    int reached = 0;
    for (int i = stride - 1; i < prompt.length; i += stride) {
      node = after(node, prompt[i] ^ salt);
      if (node == NONE) {
        break;
      }
      int set = holder(node);
      if (set != before) {
        size = before == SharedSets.NOBODY ? first(set, stride) : left(set, size, reached);
        if (size == 0) {
          return;
        }
        before = set;
      }
      reached = i + 1;
    }
    for (int i = 0; i < size; i++) {
      held[alive[i]] = reached;
    }
  }

  /** Those who hold the first block. */
  private int first(int set, int stride) {
    int count = sets.copy(set, members);
    int size = 0;
    for (int i = 0; i < count; i++) {
      int number = members[i] >> 1;
      if (numbered.get(number).stride == stride && (size == 0 || alive[size - 1] != number)) {
        alive[size++] = number;
      }
    }
    return size;
  }

  /** Those who also hold this one; the others hold as much as was {@code reached}. */
  private int left(int set, int size, int reached) {
    int left = 0;
    for (int i = 0; i < size; i++) {
      int number = alive[i];
      if (sets.has(set, 2 * number) || sets.has(set, 2 * number + 1)) {
        alive[left++] = number;
      } else {
        held[number] = reached;
      }
    }
    return left;
  }

  /** The record of a key: mostly the one that was made after the one of the key before. */
  private int after(int node, long key) {
    int next = node + 1;
    if (next < used && key(next) == key && holder(next) != SharedSets.NOBODY) {
      return next;
    }
    return find(key);
  }

  private int find(long key) {
    int hash = mix(key);
    int[] cells = byKey.cells(hash);
    for (int cell = IntTable.first(cells, hash); ; cell = IntTable.next(cells, cell)) {
      int node = cells[cell];
      if (node == NONE || key(node) == key) {
        return node;
      }
    }
  }

  private int findOrAdd(long key) {
    int node = find(key);
    if (node != NONE) {
      return node;
    }
    node = freeNode;
    if (node == NONE) {
      node = used++;
      if (node >>> CHUNK_BITS == keys.length) {
        keys = Arrays.copyOf(keys, keys.length + 1);
        holders = Arrays.copyOf(holders, keys.length);
        keys[keys.length - 1] = new long[CHUNK];
        holders[keys.length - 1] = new int[CHUNK];
      }
    } else {
      freeNode = (int) key(node);
    }
    keys[node >>> CHUNK_BITS][node & MASK] = key;
    holder(node, SharedSets.NOBODY);
    byKey.add(node);
    live++;
    return node;
  }

  private void take(long key, int number) {
    int node = find(key);
    if (node != NONE) {
      take(node, number);
    }
  }

  private void take(int node, int number) {
    left(node, sets.without(holder(node), number));
  }

  private void left(int node, int set) {
    holder(node, set);
    if (set == SharedSets.NOBODY) {
      byKey.remove(node);
      keys[node >>> CHUNK_BITS][node & MASK] = freeNode;
      freeNode = node;
      live--;
    }
  }

  /** Time has passed: what nobody needs any more goes also where nothing is told. */
  public void tick() {
    sweep(SWEPT);
  }

  /** Takes those who are gone out of so many records. */
  private void sweep(int records) {
    if (sweeping.isEmpty()) {
      if (gone.isEmpty()) {
        return;
      }
      sweeping = gone;
      gone = new ArrayList<>();
      long[] inSets = new long[(2 * numbered.size() + 63) / 64];
      for (int number : sweeping) {
        inSets[(2 * number) >>> 6] |= 3L << (2 * number);
      }
      sets.gone(inSets);
      cursor = 0;
    }
    int end = Math.min(used, cursor + records);
    for (; cursor < end; cursor++) {
      int before = holder(cursor);
      int left = sets.withoutGone(before);
      if (left != before) {
        left(cursor, left);
      }
    }
    if (cursor == used) {
      freeNumbers.addAll(sweeping);
      sweeping = new ArrayList<>();
    }
  }

  private long key(int node) {
    return keys[node >>> CHUNK_BITS][node & MASK];
  }

  private int holder(int node) {
    return holders[node >>> CHUNK_BITS][node & MASK];
  }

  private void holder(int node, int set) {
    holders[node >>> CHUNK_BITS][node & MASK] = set;
  }

  private static int mix(long key) {
    return (int) ((key * 0x9E3779B97F4A7C15L) >>> 32);
  }
}
