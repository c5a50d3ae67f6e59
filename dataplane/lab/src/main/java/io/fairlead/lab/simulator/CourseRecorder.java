package io.fairlead.lab.simulator;

import java.util.ArrayList;
import java.util.List;

/** Counts what is there, looked at again and again, and what was cached of it. */
final class CourseRecorder {

  private static final double FILLING = 3;

  private final double warmUpNanos;
  private final long lookNanos;
  private final List<Look> looks = new ArrayList<>();
  private final Samples promptTokens = new Samples();
  private final Samples cachedTokens = new Samples();
  private long arrived;
  private long completed;
  private long there;

  private record Look(long arrived, long completed, long there) {}

  CourseRecorder(double warmUpNanos, long lookNanos) {
    this.warmUpNanos = warmUpNanos;
    this.lookNanos = lookNanos;
  }

  void look() {
    looks.add(new Look(arrived, completed, there));
  }

  void arrived() {
    arrived++;
    there++;
  }

  /** It got no answer. */
  void left() {
    there--;
  }

  void completed(int ofPrompt, int cached) {
    completed++;
    there--;
    promptTokens.add(ofPrompt);
    cachedTokens.add(cached);
  }

  Course result(long lastArrival) {
    int from = (int) Math.ceil(warmUpNanos / lookNanos);
    int to = (int) Math.min(looks.size() - 1L, lastArrival / lookNanos);
    if (to - from < 2) {
      return new Course(0, 0, 0, 0, 0, hitRateOfLast());
    }
    Look first = looks.get(from);
    Look last = looks.get(to);
    int filled = filled(from, to);
    return new Course(
        (to - from) * lookNanos / 1e9,
        last.arrived - first.arrived,
        last.completed - first.completed,
        (double) (last.there - looks.get(filled).there)
            / Math.max(1, last.arrived - looks.get(filled).arrived),
        standardErrors(filled, to),
        hitRateOfLast());
  }

  /**
   * From when on a pool that began empty is no longer filling: after three times as long as a
   * request is there, which is by Little's law what is there over what comes. At least half of the
   * window is left.
   */
  private int filled(int from, int to) {
    double there = looks.subList(from, to + 1).stream().mapToLong(Look::there).average().orElse(0);
    long came = looks.get(to).arrived - looks.get(from).arrived;
    double stay = came == 0 ? 0 : there * (to - from) / came;
    double begun = warmUpNanos / lookNanos;
    return from + (int) Math.clamp(FILLING * stay - begun, 0, (to - from) / 2.0);
  }

  /** The mean of the growths of equal parts over its standard error. */
  private double standardErrors(int from, int to) {
    int parts = Math.min(Course.PARTS, to - from);
    double mean = (double) (looks.get(to).there - looks.get(from).there) / parts;
    double squares = 0;
    long before = looks.get(from).there;
    for (int part = 1; part <= parts; part++) {
      long there = looks.get(from + (int) ((long) (to - from) * part / parts)).there;
      squares += (there - before - mean) * (there - before - mean);
      before = there;
    }
    double error = parts < 2 ? Double.NaN : Math.sqrt(squares / (parts - 1) / parts);
    return mean == 0 ? 0 : mean / error;
  }

  private double hitRateOfLast() {
    int size = promptTokens.size();
    return hitRate(Math.max(0, size - Course.LAST), size);
  }

  private double hitRate(int from, int to) {
    double tokens = promptTokens.sum(from, to);
    return tokens == 0 ? Double.NaN : cachedTokens.sum(from, to) / tokens;
  }
}
