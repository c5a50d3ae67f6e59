package io.fairlead.lab.workload;

import java.util.function.LongFunction;

/** Requests that come however the earlier ones fare. */
final class OpenLoop implements Traffic {

  private final ArrivalTimes times;
  private final LongFunction<RequestShape> requests;
  private long handedOut;

  /**
   * @param times when they come
   * @param requests the n-th of them, from 0 on
   */
  OpenLoop(ArrivalTimes times, LongFunction<RequestShape> requests) {
    this.times = times;
    this.requests = requests;
  }

  @Override
  public Arrival next() {
    return new Arrival(times.next(), requests.apply(handedOut++));
  }
}
