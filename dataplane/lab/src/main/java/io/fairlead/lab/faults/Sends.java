package io.fairlead.lab.faults;

import java.util.ArrayList;
import java.util.List;

/** How many requests each of several servers had been sent, looked at again and again. */
final class Sends {

  private final int servers;
  private final List<Double> times = new ArrayList<>();
  private final List<long[]> counts = new ArrayList<>();
  private long[] last;

  Sends(int servers) {
    this.servers = servers;
    this.last = new long[servers];
  }

  /**
   * A look.
   *
   * @param seconds since the run began
   * @param now what each server's counter says; one that has gone back has begun again at 0
   */
  void look(double seconds, long[] now) {
    long[] sum = counts.isEmpty() ? new long[servers] : counts.getLast().clone();
    for (int i = 0; i < servers; i++) {
      if (!counts.isEmpty()) {
        sum[i] += now[i] >= last[i] ? now[i] - last[i] : now[i];
      }
    }
    last = now.clone();
    times.add(seconds);
    counts.add(sum);
  }

  /** Sent to a server between two times, by the looks before them. */
  long between(int server, double from, double to) {
    return at(to)[server] - at(from)[server];
  }

  /** How many servers were sent something between two times. */
  int used(double from, double to) {
    int used = 0;
    for (int i = 0; i < servers; i++) {
      used += between(i, from, to) > 0 ? 1 : 0;
    }
    return used;
  }

  /** Sent to a server in each second. */
  List<Long> perSecond(int server, int seconds) {
    List<Long> each = new ArrayList<>();
    for (int i = 0; i < seconds; i++) {
      each.add(between(server, i, i + 1.0));
    }
    return each;
  }

  private long[] at(double seconds) {
    long[] found = new long[servers];
    for (int i = 0; i < times.size() && times.get(i) <= seconds; i++) {
      found = counts.get(i);
    }
    return found;
  }
}
