package io.fairlead.lab.load;

import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/** Counts answers as they come, from whichever thread brings them. */
final class LoadRecorder {

  private static final long LONGEST_MICROS = 3_600_000_000L;

  private final Histogram ttftMicros = new Histogram(LONGEST_MICROS, 3);
  private final Histogram tpotMicros = new Histogram(LONGEST_MICROS, 3);
  private final Histogram endToEndMicros = new Histogram(LONGEST_MICROS, 3);
  private final Map<String, Long> failures = new TreeMap<>();
  private final Map<String, Long> endpoints = new TreeMap<>();
  private final Map<String, Long> models = new TreeMap<>();
  private long sent;
  private long succeeded;
  private long rejected;
  private long failed;
  private long promptTokens;
  private long cachedTokens;
  private long outputTokens;

  synchronized void sent() {
    sent++;
  }

  synchronized void over(Answered request, AnswerReader answer, boolean stream) {
    switch (request.outcome()) {
      case SUCCEEDED -> succeeded(request, answer, stream);
      case REJECTED -> rejected++;
      case FAILED -> {
        failed++;
        failures.merge(request.kind(), 1L, Long::sum);
      }
    }
  }

  private void succeeded(Answered request, AnswerReader answer, boolean stream) {
    succeeded++;
    record(ttftMicros, answer.firstByteNanos());
    record(endToEndMicros, answer.lastByteNanos());
    int tokens = answer.outputTokens();
    if (stream && tokens > 1) {
      record(tpotMicros, (answer.lastByteNanos() - answer.firstByteNanos()) / (tokens - 1));
    }
    promptTokens += answer.promptTokens();
    cachedTokens += answer.cachedTokens();
    outputTokens += tokens;
    if (!request.endpoint().isEmpty()) {
      endpoints.merge(request.endpoint(), 1L, Long::sum);
    }
    models.merge(request.model().isEmpty() ? answer.model() : request.model(), 1L, Long::sum);
  }

  private static void record(Histogram micros, long nanos) {
    micros.recordValue(Math.min(nanos / 1_000, LONGEST_MICROS));
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
        quantiles(tpotMicros),
        quantiles(endToEndMicros),
        new LoadReport.Tokens(promptTokens, cachedTokens, outputTokens));
  }

  private static LoadReport.Quantiles quantiles(Histogram micros) {
    return new LoadReport.Quantiles(
        micros.getValueAtPercentile(50) / 1e3,
        micros.getValueAtPercentile(90) / 1e3,
        micros.getValueAtPercentile(99) / 1e3,
        micros.getTotalCount() == 0 ? 0 : micros.getMean() / 1e3);
  }
}
