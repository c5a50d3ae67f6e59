package io.fairlead.epp.sockets;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * The second longest of three times of the same thing: a machine that stands still for a moment
 * makes one of them long, and what is measured itself all three.
 */
public final class MedianTime {

  private MedianTime() {}

  public static Duration ofThree(Callable<Duration> once) throws Exception {
    List<Duration> times = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      times.add(once.call());
    }
    times.sort(null);
    return times.get(1);
  }
}
