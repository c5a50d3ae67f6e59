package io.fairlead.epp.telemetry;

import io.fairlead.epp.director.PassedAnswer;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Times between the events of streamed answers, by model. Takes all of an answer at once: other
 * histograms take one time after the other, and an answer has thousands.
 *
 * <p>Written on the pool's loop, collected on any thread.
 */
final class EventGaps implements Collector {

  private static final String NAME = "fairlead_inter_token_latency_seconds";
  private static final double NANOS = 1e9;

  private final double[] bounds;

  /** Of each model the counts by bound, and behind them the sum in nanoseconds. */
  private final Map<String, AtomicLongArray> models = new ConcurrentHashMap<>();

  EventGaps(PrometheusRegistry registry) {
    long[] nanos = PassedAnswer.bounds();
    bounds = new double[nanos.length + 1];
    for (int i = 0; i < nanos.length; i++) {
      bounds[i] = nanos[i] / NANOS;
    }
    bounds[nanos.length] = Double.POSITIVE_INFINITY;
    registry.register(this);
  }

  /** The model has a series from now on. */
  AtomicLongArray of(String model) {
    return models.computeIfAbsent(model, m -> new AtomicLongArray(bounds.length + 1));
  }

  void forget(String model) {
    models.remove(model);
  }

  /** Adds an answer to what {@link #of} gave. */
  static void add(AtomicLongArray counts, PassedAnswer answer) {
    int sum = counts.length() - 1;
    for (int i = 0; i < sum; i++) {
      if (answer.gaps(i) > 0) {
        counts.addAndGet(i, answer.gaps(i));
      }
    }
    counts.addAndGet(sum, answer.nanosBetween());
  }

  @Override
  public HistogramSnapshot collect() {
    HistogramSnapshot.Builder all =
        HistogramSnapshot.builder()
            .name(NAME)
            .help(
                "Time from event to event of streamed answers, as the picker saw them come;"
                    + " events that come in one piece have none between them.");
    models.forEach((model, counts) -> all.dataPoint(point(model, counts)));
    return all.build();
  }

  private HistogramDataPointSnapshot point(String model, AtomicLongArray counts) {
    long[] now = new long[bounds.length];
    for (int i = 0; i < now.length; i++) {
      now[i] = counts.get(i);
    }
    return HistogramDataPointSnapshot.builder()
        .labels(Labels.of("model", model))
        .classicHistogramBuckets(ClassicHistogramBuckets.of(bounds, now))
        .sum(counts.get(now.length) / NANOS)
        .build();
  }
}
