package io.fairlead.core;

import io.fairlead.core.receipt.EndpointTable;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * What scorers look at for each candidate of each decision, side by side: reading 10,000 numbers in
 * a row takes a tenth of the time of finding them in 10,000 objects. Places are those of the
 * eligible endpoints; an endpoint that changes writes itself, and is noted for those who keep
 * something worked out from its account.
 */
final class EndpointColumns {

  private static final int SHORTEST_LOG = 64;

  final int[] queueDepth;
  final double[] kvUsage;

  /** How full each is; NaN where the plugin that says so failed. */
  final double[] saturation;

  /** Whether each has adapters with requests in flight in all of its slots. */
  private final boolean[] slotsTaken;

  private int placesWithSlotsTaken;

  /** How many slots for adapters each has, and all together. */
  private final int[] adapterSlots;

  private int allAdapterSlots;

  /** Tokens that the KV cache of each has room for; 0 where that is unknown. */
  private final long[] cache;

  /** The smallest of those that are known; worked out when somebody asks. */
  private long smallestCache = Long.MAX_VALUE;

  private boolean cacheChanged;

  /** Numbers in the prefix index, and of plugins' arrays. */
  final int[] slot;

  /** What receipts keep. */
  final EndpointTable facts;

  /** The places that changed last, change {@code n} at {@code n} modulo its length. */
  private final int[] log;

  private long changes;

  /**
   * Columns to be filled.
   *
   * @param changesBefore those noted in the columns that these replace: whoever has seen no more
   *     than them is told of all places
   */
  EndpointColumns(int places, long changesBefore) {
    queueDepth = new int[places];
    kvUsage = new double[places];
    saturation = new double[places];
    slotsTaken = new boolean[places];
    adapterSlots = new int[places];
    cache = new long[places];
    slot = new int[places];
    facts = new EndpointTable(kvUsage, saturation);
    log = new int[Integer.highestOneBit(Math.max(SHORTEST_LOG, places))];
    changes = changesBefore + log.length + 1;
    Arrays.fill(kvUsage, Double.NaN);
  }

  /** Whether a further adapter would have to wait there until another falls idle. */
  void slotsTaken(int place, boolean taken) {
    if (slotsTaken[place] != taken) {
      slotsTaken[place] = taken;
      placesWithSlotsTaken += taken ? 1 : -1;
    }
  }

  /** The endpoint in this place has so many slots for adapters. */
  void adapterSlots(int place, int slots) {
    allAdapterSlots += slots - adapterSlots[place];
    adapterSlots[place] = slots;
  }

  /** Slots for adapters of all endpoints. */
  int adapterSlots() {
    return allAdapterSlots;
  }

  boolean slotsTaken(int place) {
    return slotsTaken[place];
  }

  /** Whether that is so anywhere. */
  boolean slotsTakenAnywhere() {
    return placesWithSlotsTaken > 0;
  }

  /** The cache of the endpoint in this place has room for so many tokens; 0 for unknown. */
  void cache(int place, long tokens) {
    if (cache[place] != tokens) {
      cache[place] = tokens;
      cacheChanged = true;
    }
  }

  /** Tokens that the smallest cache has room for, of those that are known. */
  long smallestCache() {
    if (cacheChanged) {
      cacheChanged = false;
      smallestCache = Long.MAX_VALUE;
      for (long each : cache) {
        smallestCache = each > 0 ? Math.min(smallestCache, each) : smallestCache;
      }
    }
    return smallestCache;
  }

  /** Whether a prompt of so many tokens has room in the cache there, as far as is known. */
  boolean fits(int place, double tokens) {
    return cache[place] == 0 || tokens <= cache[place];
  }

  /** The account of the endpoint in this place is another. */
  void note(int place) {
    log[(int) (changes & (log.length - 1))] = place;
    changes++;
  }

  /** How many changes there have been so far. */
  long changes() {
    return changes;
  }

  /**
   * Tells of every place that has changed since, maybe of one more than once; of all places where
   * so many changes are not kept.
   *
   * @param since what this returned last; 0 at first
   * @return to be passed the next time
   */
  long changes(long since, IntConsumer place) {
    long until = changes;
    if (until - since <= log.length) {
      int last = -1;
      for (long n = since; n < until; n++) {
        // Each event of a request changes its endpoint, so the same one is often there in a row.
        int changed = log[(int) (n & (log.length - 1))];
        if (changed != last) {
          place.accept(changed);
          last = changed;
        }
      }
    } else {
      for (int i = 0; i < slot.length; i++) {
        place.accept(i);
      }
    }
    return until;
  }
}
