package io.fairlead.core;

import io.fairlead.core.account.SharedBlocks;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Conversations between two of their requests, and the room that their contexts need in caches
 * until they go on.
 *
 * <p>An engine keeps what was used last, so a context is still there if no more was used since than
 * there is room for. Where more conversations are open than that, each request drives out contexts
 * that come next: servers compute again what they had, everybody takes longer, so that still more
 * conversations are open at a time. A pool that served 4.4 requests a second serves 3.3 then, in
 * three times the time. That is thrashing, and the way out is that of virtual memory: nobody new
 * comes in while the working set, what was used within a window, leaves no room for it (Denning,
 * "The working set model for program behavior", CACM 11(5), 1968). The window is three times the
 * mean time until a conversation goes on: where these times are exponential, 19 of 20 have by then.
 *
 * <p>Held back are only requests that begin a conversation, and only where it pays: where most go
 * on, and a server that computed all of its prompts anew could not do what it does. Between a pool
 * that could nearly do so and one that by no means could, room is kept for a part of the window:
 * for those that go on soon, which are most.
 */
final class Contexts {

  /** Share of a conversation in what is believed of the next. */
  private static final double LEARNING = 0.02;

  /** Where no more go on, little is lost with their contexts. */
  private static final double MOST_GO_ON = 0.5;

  /**
   * Share of a server's time that its prompts would take if all were computed anew: with less than
   * this nothing is lost with a context, as requests besides are answered.
   */
  private static final double MUCH = 0.65;

  /** The same share from which on room is kept for the whole window. */
  private static final double ALL = 1;

  private static final double MEANS_IN_WINDOW = 3;
  private static final double SHORTEST_WINDOW = 1e9;
  private static final double LONGEST_WINDOW = 60e9;
  private static final double ASSUMED_GAP = 5e9;

  /** So many are remembered: at a hundred bytes or so each, a few megabytes. */
  private static final int MOST_CONTEXTS = 1 << 16;

  /** So many that were not sent are known when they come again, less those that share a slot. */
  private static final int UNSENT_BITS = 12;

  private static final int SLOT_SHIFT = Long.SIZE - UNSENT_BITS;

  /** Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4). */
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private static final long NOBODY = 0;

  /** Likenesses of requests that were counted and not sent, each in its slot. */
  private final long[] unsent = new long[1 << UNSENT_BITS];

  /** Those within the window, the first that ended before the others. */
  private final Map<Key, Context> resting = new LinkedHashMap<>();

  /** Those up to twice as old: what comes back of them tells that the window is too short. */
  private final Map<Key, Context> older = new LinkedHashMap<>();

  /** To look up with, set anew for each of a prompt's blocks; never put into a map. */
  private final Key probe = new Key();

  /** Share of requests that go on with a conversation, of those that came of late. */
  private double goOn;

  private double gap = ASSUMED_GAP;

  /** Share of the contexts that rest which room is kept for. */
  private double kept = 1;

  /** Which context: by its deepest block that is looked at. */
  static final class Key {

    private long block;

    @Override
    public int hashCode() {
      return Long.hashCode(block);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Key key && key.block == block;
    }
  }

  /**
   * What a request has left in its endpoint's cache.
   *
   * @param blocks of its prompt
   * @param last salted hash of the last of these, which stands for all before it
   * @param tokens that are in no other context, the answer's too
   * @param filling which of the cache's fillings it is in, {@link EndpointState#filling}
   */
  record Context(
      Key key,
      int blocks,
      long last,
      EndpointState at,
      long tokens,
      boolean critical,
      long since,
      int filling) {

    /** Not by one that comes again as it was, and not by one that only begins alike. */
    private boolean isContinuedBy(long salt, long[] prompt, int count) {
      return blocks < count && (prompt[blocks - 1] ^ salt) == last;
    }
  }

  /** The context that a prompt goes on with; null where it begins a conversation. */
  @Nullable Context find(long salt, long[] blocks, int count) {
    if (resting.isEmpty() && older.isEmpty()) {
      return null;
    }
    Context found = null;
    for (int depth = 1; depth <= count; depth = SharedBlocks.nextDepth(depth)) {
      probe.block = SharedBlocks.key(salt, blocks[depth - 1]);
      Context known = resting.get(probe);
      known = known == null ? older.get(probe) : known;
      if (known != null && known.isContinuedBy(salt, blocks, count)) {
        found = known;
      }
    }
    return found;
  }

  /**
   * A request came, sent or not: whoever is held back begins something, and counts as well. Else
   * nobody but those that go on would count while contexts fill the caches.
   *
   * <p>One that was not sent counts no more when it comes again, until it is sent: clients that try
   * at once would be taken for that many who begin something, and nobody would be held back.
   *
   * @param likeness of the request, {@link RequestFacts#likeness}
   * @param before what it goes on with, if it goes on with anything
   */
  void came(long likeness, @Nullable Context before) {
    if (isUnsent(likeness)) {
      return;
    }
    goOn += LEARNING * ((before == null ? 0 : 1) - goOn);
  }

  /** A request that was counted is over and was sent nowhere: it may come again. */
  void unsent(long likeness) {
    unsent[slot(likeness)] = likeness;
  }

  private boolean isUnsent(long likeness) {
    return unsent[slot(likeness)] == likeness;
  }

  private static int slot(long likeness) {
    return (int) ((likeness * GOLDEN) >>> SLOT_SHIFT);
  }

  /**
   * A request was sent to an endpoint.
   *
   * @param likeness of the request, {@link RequestFacts#likeness}
   * @param before what it goes on with, if it goes on with anything
   * @return its tokens that are in no other context
   */
  long sent(long now, long likeness, Attempt attempt, EndpointState to, @Nullable Context before) {
    if (isUnsent(likeness)) {
      unsent[slot(likeness)] = NOBODY;
    }
    long own = attempt.uncached();
    if (before != null && remove(before)) {
      gap += LEARNING * (now - before.since() - gap);
      own += before.at() == to ? before.tokens() : 0;
    }
    return Math.min(own, attempt.tokens);
  }

  /**
   * A request was served: its context rests until the next one goes on with it, which it does with
   * one of its answers.
   *
   * @param outputTokens of all of them; below 0 where nobody knows
   */
  void rests(long now, Flight flight, EndpointState at, int outputTokens) {
    Attempt attempt = flight.attempt;
    if (attempt.blocks == 0) {
      return;
    }
    int deepest = 1;
    int samples = 0;
    for (int depth = 1; depth <= attempt.blocks; depth = SharedBlocks.nextDepth(depth)) {
      deepest = depth;
      samples++;
    }
    long block =
        flight.hasSampleOnly()
            ? attempt.sampledBlocks[samples - 1]
            : flight.facts.blocks()[deepest - 1];
    Key key = new Key();
    key.block = SharedBlocks.key(attempt.salt, block);
    Context context =
        new Context(
            key,
            attempt.blocks,
            attempt.lastBlock ^ attempt.salt,
            at,
            flight.ownTokens + attempt.ofEach(Math.max(0, outputTokens)),
            attempt.critical,
            now,
            at.filling());
    Context same = resting.remove(key);
    if (same != null) {
      same.at().restsNoMore(same);
    }
    older.remove(key);
    resting.put(key, context);
    at.rests(context);
    if (resting.size() + older.size() > MOST_CONTEXTS) {
      Map<Key, Context> from = older.isEmpty() ? resting : older;
      remove(from.values().iterator().next());
    }
  }

  private boolean remove(Context context) {
    if (resting.remove(context.key(), context)) {
      context.at().restsNoMore(context);
      return true;
    }
    return older.remove(context.key(), context);
  }

  /**
   * Time has moved on: what has not come back for long takes no room any more.
   *
   * @param pool endpoints in use
   * @param times how many times as many requests go to the pool as are known of here
   */
  void tick(long now, EndpointState[] pool, double times) {
    kept = kept(times * wholePrefills(now, pool), shareThatGoesOn(times), gaps());
    double window = window();
    Iterator<Context> out = resting.values().iterator();
    while (out.hasNext()) {
      Context context = out.next();
      if (now - context.since() <= window) {
        break;
      }
      out.remove();
      context.at().restsNoMore(context);
      older.put(context.key(), context);
    }
    Iterator<Context> gone = older.values().iterator();
    while (gone.hasNext()) {
      if (now - gone.next().since() <= 2 * window) {
        break;
      }
      gone.remove();
    }
  }

  /**
   * Which share of the contexts that rest room is kept for: those that have rested for a part of
   * the window. After so many gaps {@code exp(-gaps)} of those that go on have not come yet, so it
   * takes as many gaps as the logarithm of what would be too much to compute anew.
   *
   * @param whole share of their time that servers would need to compute all prompts anew
   * @param goOn share of conversations that go on
   * @param gaps in the window
   */
  static double kept(double whole, double goOn, double gaps) {
    double part = Math.clamp(Math.log(whole / MUCH) / Math.log(ALL / MUCH), 0, 1);
    return rested(goOn, gaps * part) / rested(goOn, gaps);
  }

  /** How many have rested for no more than so many gaps, of those that begin to in one. */
  private static double rested(double goOn, double gaps) {
    return -goOn * Math.expm1(-gaps) + (1 - goOn) * gaps;
  }

  /** Of an endpoint in the mean, where each counts by how much it does: idle ones do not. */
  private static double wholePrefills(long now, EndpointState[] pool) {
    double sum = 0;
    double squares = 0;
    for (EndpointState endpoint : pool) {
      double one = endpoint.wholePrefills(now);
      sum += one;
      squares += one * one;
    }
    return sum > 0 ? squares / sum : 0;
  }

  /** Of the contexts that begin to rest; those that come back to other pickers are counted. */
  private double shareThatGoesOn(double times) {
    return Math.min(1, times * goOn);
  }

  /** How many mean times until a conversation goes on the window is long. */
  private double gaps() {
    return window() / Math.max(1, gap);
  }

  private double window() {
    return Math.clamp(MEANS_IN_WINDOW * gap, SHORTEST_WINDOW, LONGEST_WINDOW);
  }

  /**
   * How likely one that rests is to be gone on with. Of all that begin to rest {@code goOn} are;
   * but those stay for a gap, which is taken for exponential, and the others for the whole window,
   * so of those that one finds at some time it is fewer (Little's law).
   *
   * @param times how many times as many requests go to the pool as are known of here
   */
  double goesOn(double times) {
    double share = shareThatGoesOn(times);
    double gaps = gaps();
    return share * -Math.expm1(-gaps) / rested(share, gaps);
  }

  /**
   * Whether there may be endpoints that are full for who begins a conversation.
   *
   * @param times how many times as many requests go to the pool as are known of here
   */
  boolean matter(double times) {
    return times * goOn >= MOST_GO_ON;
  }

  /** Whether all contexts of an endpoint, in use and at rest, fit into its cache. */
  static boolean fit(EndpointState endpoint) {
    return endpoint.contextTokens(1, false, 1) <= endpoint.kvCapacityTokens();
  }

  /**
   * Whether an endpoint's cache is full for a request that begins a conversation: with contexts
   * that are used there and those that rest and room is kept for, of requests at least as
   * important.
   *
   * @param uncached tokens that it would add
   * @param times how many times as many requests go to the pool as are known of here
   */
  boolean areFull(long now, EndpointState endpoint, long uncached, boolean critical, double times) {
    long capacity = endpoint.kvCapacityTokens();
    return capacity > 0
        && endpoint.contextTokens(kept, critical, times) + uncached > capacity
        && times * endpoint.wholePrefills(now) >= MUCH;
  }
}
