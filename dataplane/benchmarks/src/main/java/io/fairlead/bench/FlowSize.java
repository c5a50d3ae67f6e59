package io.fairlead.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.List;
import java.util.Locale;

/**
 * What the core keeps for each of 5,000 requests that wait, besides what came with it: by the heap
 * in use after a collection.
 */
final class FlowSize {

  private static final int WAITING = 5_000;

  /** As their wait begins and ends. */
  private final double own;

  /** With an entry in the table of requests, which has room for the next power of two of them. */
  private final double withEntry;

  private FlowSize(double own, double withEntry) {
    this.own = own;
    this.withEntry = withEntry;
  }

  static FlowSize measure() {
    FlowBench.Pool pool = new FlowBench.Pool();
    pool.fill();
    pool.arrive();
    long[] requests = new long[WAITING];
    long nobody = used();
    fill(pool, requests);
    long first = used();
    for (long request : requests) {
      pool.hangUp(request);
    }
    long gone = used();
    fill(pool, requests);
    long again = used();
    pool.hangUp(requests[0]); // all is in use until here
    return new FlowSize((double) (again - gone) / WAITING, (double) (first - nobody) / WAITING);
  }

  private static void fill(FlowBench.Pool pool, long[] requests) {
    for (int i = 0; i < requests.length; i++) {
      requests[i] = pool.arrive();
    }
  }

  private static long used() {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    for (int i = 0; i < 3; i++) {
      memory.gc();
    }
    return memory.getHeapMemoryUsage().getUsed();
  }

  List<String> lines() {
    return List.of(
        String.format(
            Locale.ROOT,
            "bench flow/size,waiting=%d bytes_per_waiting=%.0f bytes_with_entry=%.0f",
            WAITING,
            own,
            withEntry));
  }

  String markdown() {
    return String.format(
        Locale.ROOT,
        "| case | bytes per request that waits | with its entry in the table of requests |%n"
            + "|---|---|---|%n| flow/size,waiting=%,d | %.0f | %.0f |%n",
        WAITING,
        own,
        withEntry);
  }
}
