package io.fairlead.lab.load;

import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/** Counts answers as they come, from whichever thread brings them. */
final class LoadRecorder {

  private static final long LONGEST_MICROS = 3_600_000_000L;

  private final Histogram ttftMicros = new Histogram(LONGEST_MICROS, 3);
  private final Histogram endToEndMicros = new Histogram(LONGEST_MICROS, 3);
  private final Map<String, Long> failures = new TreeMap<>();
  private final Map<String, Long> endpoints = new TreeMap<>();
  private final Map<String, Long> models = new TreeMap<>();
  private long sent;
  private long succeeded;
  private long rejected;
  private long failed;

  synchronized void sent() {
    sent++;
  }

  synchronized void succeeded(String endpoint, String model, long firstNanos, long lastNanos) {
    succeeded++;
    ttftMicros.recordValue(Math.min(firstNanos / 1_000, LONGEST_MICROS));
    endToEndMicros.recordValue(Math.min(lastNanos / 1_000, LONGEST_MICROS));
    if (!endpoint.isEmpty()) {
      endpoints.merge(endpoint, 1L, Long::sum);
    }
    models.merge(model, 1L, Long::sum);
  }

  synchronized void rejected() {
    rejected++;
  }

  synchronized void failed(String kind) {
    failed++;
    failures.merge(kind, 1L, Long::sum);
  }

  synchronized LoadReport report() {
    return new LoadReport(
        sent,
        succeeded,
        rejected,
        failed,
        Map.copyOf(failures),
        Map.copyOf(endpoints),
        Map.copyOf(models),
        quantiles(ttftMicros),
        quantiles(endToEndMicros));
  }

  private static LoadReport.Quantiles quantiles(Histogram micros) {
    return new LoadReport.Quantiles(
        micros.getValueAtPercentile(50) / 1e3,
        micros.getValueAtPercentile(90) / 1e3,
        micros.getValueAtPercentile(99) / 1e3,
        micros.getTotalCount() == 0 ? 0 : micros.getMean() / 1e3);
  }
}
