package io.fairlead.lab.hop;

import java.time.Duration;
import org.HdrHistogram.Histogram;

/** How long picks took; told from any thread. */
final class PickTimes {

  private static final long LONGEST_MICROS = 60_000_000;

  private final Histogram micros = new Histogram(LONGEST_MICROS, 3);
  private Duration cpu = Duration.ZERO;
  private long failed;

  synchronized void picked(long nanos) {
    micros.recordValue(Math.clamp(nanos / 1_000, 0, LONGEST_MICROS));
  }

  synchronized void failed() {
    failed++;
  }

  synchronized void used(Duration time) {
    cpu = cpu.plus(time);
  }

  synchronized long picked() {
    return micros.getTotalCount();
  }

  synchronized long failedCount() {
    return failed;
  }

  synchronized double millis(double percentile) {
    return micros.getValueAtPercentile(percentile) / 1e3;
  }

  synchronized double cpuMicros() {
    return cpu.toNanos() / 1e3 / Math.max(1, micros.getTotalCount());
  }
}
