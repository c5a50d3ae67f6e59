package io.fairlead.epp.sockets;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * The middle one of several times of the same thing: a machine that stands still for a moment makes
 * one of them long, or two, and what is measured itself all.
 */
public final class MedianTime {

  private MedianTime() {}

  /** The third longest of five; no more are taken than show that it is below {@code bound}. */
  public static Duration ofFive(Duration bound, Callable<Duration> once) throws Exception {
    List<Duration> times = new ArrayList<>();
    int below = 0;
    while (below < 3 && times.size() < 5) {
      Duration time = once.call();
      times.add(time);
      below += time.compareTo(bound) < 0 ? 1 : 0;
    }
    times.sort(null);
    return times.get(2);
  }
}
