package io.fairlead.core.flow;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * Counts how the waits of a band's requests ended, and how long they were. Written on the pool's
 * loop.
 */
public final class WaitCounters {

  private static final long[] BOUNDS = {
    1_000_000L,
    5_000_000L,
    10_000_000L,
    25_000_000L,
    50_000_000L,
    100_000_000L,
    250_000_000L,
    500_000_000L,
    1_000_000_000L,
    2_500_000_000L,
    5_000_000_000L,
    10_000_000_000L,
    30_000_000_000L,
    60_000_000_000L,
    300_000_000_000L
  };

  private final Map<WaitEnd, Wait> waits = new EnumMap<>(WaitEnd.class);

  /** Nothing counted yet. */
  public WaitCounters() {
    for (WaitEnd how : WaitEnd.values()) {
      waits.put(how, new Wait());
    }
  }

  private Wait of(WaitEnd how) {
    return Objects.requireNonNull(waits.get(how));
  }

  private static final class Wait {
    final long[] buckets = new long[BOUNDS.length + 1];
    long nanos;
  }

  /** Upper bounds of the buckets in nanoseconds; the last bucket has none. A copy. */
  public static long[] bounds() {
    return BOUNDS.clone();
  }

  /** A wait of so many nanoseconds is over. */
  public void ended(WaitEnd how, long nanos) {
    Wait wait = of(how);
    int bucket = 0;
    while (bucket < BOUNDS.length && nanos > BOUNDS[bucket]) {
      bucket++;
    }
    wait.buckets[bucket]++;
    wait.nanos += nanos;
  }

  /** Waits that ended so, by length: one number for each bucket, not added up. A copy. */
  public long[] buckets(WaitEnd how) {
    return of(how).buckets.clone();
  }

  /** Nanoseconds of all waits that ended so. */
  public long nanos(WaitEnd how) {
    return of(how).nanos;
  }

  /** The same as it is now. */
  public WaitCounters copy() {
    WaitCounters copy = new WaitCounters();
    for (WaitEnd how : WaitEnd.values()) {
      System.arraycopy(of(how).buckets, 0, copy.of(how).buckets, 0, BOUNDS.length + 1);
      copy.of(how).nanos = of(how).nanos;
    }
    return copy;
  }
}
