package io.fairlead.epp.telemetry;

import io.fairlead.epp.status.EndpointLatency;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.IntCountsHistogram;

/**
 * Percentiles of the last half to whole minute: two histograms that take turns.
 *
 * <p>One writer, which also reads. Memory grows with the spread of values, to at most a few
 * kilobytes.
 */
final class RollingLatency {

  private static final long HALF_WINDOW = TimeUnit.SECONDS.toNanos(30);

  /** Fine enough for a table, and keeps the histograms small. */
  private static final long UNIT = TimeUnit.MICROSECONDS.toNanos(100);

  private static final long LARGEST = TimeUnit.HOURS.toNanos(1) / UNIT;

  private IntCountsHistogram current = histogram();
  private IntCountsHistogram previous = histogram();
  private long turnAt;

  RollingLatency(long now) {
    turnAt = now + HALF_WINDOW;
  }

  void record(long now, long nanos) {
    turn(now);
    current.recordValue(Math.clamp(nanos / UNIT, 0, LARGEST));
  }

  EndpointLatency read(long now) {
    turn(now);
    IntCountsHistogram both = current;
    if (previous.getTotalCount() > 0) {
      both = current.copy();
      both.add(previous);
    }
    return both.getTotalCount() == 0
        ? EndpointLatency.NONE
        : new EndpointLatency(both.getTotalCount(), millis(both, 50), millis(both, 99));
  }

  private void turn(long now) {
    while (now - turnAt >= 0) {
      if (now - turnAt >= 2 * HALF_WINDOW) {
        current.reset();
        turnAt = now;
      }
      IntCountsHistogram old = previous;
      previous = current;
      current = old;
      current.reset();
      turnAt += HALF_WINDOW;
    }
  }

  private static double millis(IntCountsHistogram histogram, double percentile) {
    return histogram.getValueAtPercentile(percentile) * (double) UNIT / 1e6;
  }

  private static IntCountsHistogram histogram() {
    IntCountsHistogram histogram = new IntCountsHistogram(2);
    histogram.setAutoResize(true);
    return histogram;
  }
}
