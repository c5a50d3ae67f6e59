package io.fairlead.core;

import org.jspecify.annotations.Nullable;

/**
 * Which of the pool's endpoints subsets allow. A gateway names the same ones for many requests, and
 * a decision asks several times for each endpoint: so it is worked out once for each subset.
 */
final class AllowedEndpoints {

  /** Subsets that are remembered; the one that was asked for least lately goes first. */
  private static final int MOST = 8;

  private final Subset[] subsets = new Subset[MOST];

  /** By place, a bit each. */
  private final long[][] allowed = new long[MOST][];

  /** The endpoints that this is of; another array are others. */
  private EndpointState[] of = {};

  private int count;

  /**
   * Those that a subset allows, by place among these endpoints; null for all of them.
   *
   * @param subset null where the gateway has named none
   * @param endpoints of the pool: another array each time that they change
   */
  @SuppressWarnings("ReferenceEquality") // an array of the same endpoints costs a look at each
  long @Nullable [] of(@Nullable Subset subset, EndpointState[] endpoints) {
    if (subset == null) {
      return null;
    }
    if (endpoints != of) {
      of = endpoints;
      count = 0;
    }
    int at = 0;
    while (at < count && !subsets[at].equals(subset)) {
      at++;
    }
    long[] found = at < count ? allowed[at] : workedOut(subset);
    if (at == count) {
      count = Math.min(count + 1, MOST);
      at = count - 1;
    }
    System.arraycopy(subsets, 0, subsets, 1, at);
    System.arraycopy(allowed, 0, allowed, 1, at);
    subsets[0] = subset;
    allowed[0] = found;
    return found;
  }

  private long[] workedOut(Subset subset) {
    long[] bits = new long[(of.length + Long.SIZE - 1) / Long.SIZE];
    for (int place = 0; place < of.length; place++) {
      if (subset.allows(of[place].address(), of[place].port())) {
        bits[place / Long.SIZE] |= 1L << place;
      }
    }
    return bits;
  }

  /** Whether the endpoint in this place is one of those. */
  static boolean has(long @Nullable [] allowed, int place) {
    return allowed == null || (allowed[place / Long.SIZE] >>> place & 1) != 0;
  }
}
