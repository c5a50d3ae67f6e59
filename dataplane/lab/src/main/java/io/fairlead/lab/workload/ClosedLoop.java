package io.fairlead.lab.workload;

import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A load generator with a rate and a limit of requests in flight, as benchmarks run it: requests
 * become due at the rate, and one that is due waits until an earlier one is over. Ends after a
 * number of requests.
 */
final class ClosedLoop implements Traffic {

  /** Before the next request after one that was not served, so that the loop can't spin. */
  private static final long PAUSE_NANOS = 1_000_000_000;

  private final int inFlight;
  private final long total;
  private final ArrivalTimes due;
  private final LongFunction<RequestShape> requests;
  private int opened;
  private long handedOut;

  /**
   * @param inFlight most requests at once
   * @param total requests in all
   * @param due when each may be sent at the earliest
   * @param requests the n-th of them, from 0 on
   */
  ClosedLoop(int inFlight, long total, ArrivalTimes due, LongFunction<RequestShape> requests) {
    this.inFlight = inFlight;
    this.total = total;
    this.due = due;
    this.requests = requests;
  }

  @Override
  public @Nullable Arrival next() {
    if (opened == inFlight || handedOut == total) {
      return null;
    }
    opened++;
    return arrival(0);
  }

  @Override
  public void ended(long now, RequestShape request, boolean served, Consumer<Arrival> follow) {
    if (handedOut < total) {
      follow.accept(arrival(served ? now : now + PAUSE_NANOS));
    }
  }

  private Arrival arrival(long notBefore) {
    return new Arrival(Math.max(notBefore, due.next()), requests.apply(handedOut++));
  }
}
