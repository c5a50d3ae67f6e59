package io.fairlead.lab.simulator;

import java.util.ArrayList;
import java.util.List;

/** Counts what is there, looked at again and again, and what was cached of it. */
final class CourseRecorder {

  private static final int SLICES = 10;

  private final double warmUpNanos;
  private final long lookNanos;
  private final List<Look> looks = new ArrayList<>();
  private final Samples endedAt = new Samples();
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

  void completed(long now, int ofPrompt, int cached) {
    completed++;
    there--;
    endedAt.add((double) now);
    promptTokens.add(ofPrompt);
    cachedTokens.add(cached);
  }

  Course result(long lastArrival) {
    int from = (int) Math.ceil(warmUpNanos / lookNanos);
    int to = (int) Math.min(looks.size() - 1L, lastArrival / lookNanos);
    if (to - from < 2) {
      return new Course(0, 0, 0, 0, Double.NaN, Double.NaN, hitRateOfLast(), hitRates());
    }
    Look first = looks.get(from);
    Look last = looks.get(to);
    int middle = (from + to) / 2;
    return new Course(
        (to - from) * lookNanos / 1e9,
        last.arrived - first.arrived,
        last.completed - first.completed,
        last.there - first.there,
        looks.subList(from, middle).stream().mapToLong(Look::there).average().orElseThrow(),
        looks.subList(middle, to + 1).stream().mapToLong(Look::there).average().orElseThrow(),
        hitRateOfLast(),
        hitRates());
  }

  private double hitRateOfLast() {
    int size = promptTokens.size();
    return hitRate(Math.max(0, size - Course.LAST), size);
  }

  private List<Double> hitRates() {
    int size = endedAt.size();
    double end = size == 0 ? 0 : endedAt.get(size - 1);
    List<Double> rates = new ArrayList<>();
    int from = 0;
    for (int slice = 1; slice <= SLICES; slice++) {
      int to = from;
      while (to < size && (slice == SLICES || endedAt.get(to) < end * slice / SLICES)) {
        to++;
      }
      rates.add(hitRate(from, to));
      from = to;
    }
    return rates;
  }

  private double hitRate(int from, int to) {
    double tokens = promptTokens.sum(from, to);
    return tokens == 0 ? Double.NaN : cachedTokens.sum(from, to) / tokens;
  }
}
