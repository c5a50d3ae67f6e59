package io.fairlead.epp.telemetry;

import io.fairlead.core.QueueSnapshot;
import io.fairlead.core.QueueSnapshot.Band;
import io.fairlead.core.flow.WaitCounters;
import io.fairlead.core.flow.WaitEnd;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * The series of requests that wait, of one moment: ours by priority, and those that upstream's
 * pickers have under their names. Priorities are those that the config knows; no series is of a
 * flow, whose names may be clients' own.
 */
final class QueueLines {

  private static final String UPSTREAM = "inference_extension_flow_control_";

  /** How upstream's pickers name it; a missed objective is of us. */
  private static final Map<WaitEnd, String> OUTCOMES =
      Map.of(
          WaitEnd.DISPATCHED, "Dispatched",
          WaitEnd.QUEUE_FULL, "RejectedCapacity",
          WaitEnd.TIMED_OUT, "EvictedTTL",
          WaitEnd.OBJECTIVE_MISSED, "EvictedObjective",
          WaitEnd.EVICTED, "EvictedOther",
          WaitEnd.CANCELLED, "EvictedContextCancelled",
          WaitEnd.REFUSED, "RejectedOther");

  private static final String SATURATION =
      "How full endpoints are on average, by the saturation detector: 1 is full. 0"
          + " without endpoints, NaN when the detector failed.";

  private static final String QUEUE_SECONDS =
      "Time that all endpoints together would work on the requests that wait in this"
          + " picker, as fast as they were of late; of several pickers take the sum.";

  private static final double NANOS_PER_SECOND = 1e9;

  private QueueLines() {}

  /**
   * Adds them: of the pool always, of priorities that requests came for where these may wait.
   *
   * @param pool its name, as upstream's label has it
   */
  static void append(StringBuilder page, String pool, QueueSnapshot queues) {
    String poolLabel = "inference_pool=\"" + EndpointLines.escaped(pool) + "\"";
    header(page, "fairlead_pool_saturation", "gauge", SATURATION);
    sample(page, "fairlead_pool_saturation", "", queues.saturation());
    header(page, UPSTREAM + "pool_saturation", "gauge", SATURATION);
    sample(page, UPSTREAM + "pool_saturation", "{" + poolLabel + "}", queues.saturation());
    header(page, "fairlead_pool_queue_seconds", "gauge", QUEUE_SECONDS);
    sample(page, "fairlead_pool_queue_seconds", "", queues.seconds());
    gauge(
        page,
        "fairlead_queue_requests",
        "Requests that wait for room.",
        "",
        queues,
        QueueLines::requests);
    gauge(
        page,
        UPSTREAM + "queue_size",
        "Requests that wait for room.",
        poolLabel,
        queues,
        QueueLines::requests);
    gauge(
        page,
        "fairlead_queue_bytes",
        "Bytes of the bodies of requests that wait for room.",
        "",
        queues,
        Band::bytes);
    gauge(
        page,
        UPSTREAM + "queue_bytes",
        "Bytes of the bodies of requests that wait for room.",
        poolLabel,
        queues,
        Band::bytes);
    gauge(
        page,
        "fairlead_queue_tokens",
        "Tokens that the requests that wait for room are expected to be, of prompts and"
            + " answers.",
        "",
        queues,
        Band::tokens);
    gauge(
        page,
        "fairlead_queue_server_seconds",
        "Time that one server would work on the requests that wait for room, by the"
            + " tokens of requests that ended in the last minute; at 1,000 a second before any"
            + " has.",
        "",
        queues,
        Band::serverSeconds);
    outcomes(page, queues);
    waits(page, "fairlead_queue_wait_seconds", "", queues, false);
    waits(page, UPSTREAM + "request_queue_duration_seconds", poolLabel, queues, true);
  }

  private static double requests(Band band) {
    return band.waiting();
  }

  private static void gauge(
      StringBuilder page,
      String name,
      String help,
      String label,
      QueueSnapshot queues,
      ToDoubleFunction<Band> value) {
    if (queues.bands().isEmpty()) {
      return;
    }
    header(page, name, "gauge", help);
    for (Band band : queues.bands()) {
      sample(page, name, "{" + labels(band, label) + "}", value.applyAsDouble(band));
    }
  }

  private static String labels(Band band, String more) {
    return "priority=\"" + band.priority() + "\"" + (more.isEmpty() ? "" : "," + more);
  }

  private static void outcomes(StringBuilder page, QueueSnapshot queues) {
    if (queues.bands().isEmpty()) {
      return;
    }
    String name = "fairlead_queue_outcomes_total";
    header(
        page,
        name,
        "counter",
        "Requests that found no room, by what became of them: dispatched after a wait, or"
            + " why not.");
    for (Band band : queues.bands()) {
      for (WaitEnd how : WaitEnd.values()) {
        String labels = labels(band, "outcome=\"" + code(how) + "\"");
        sample(page, name, "{" + labels + "}", (double) count(band, how));
      }
    }
  }

  private static String code(WaitEnd how) {
    return how.name().toLowerCase(Locale.ROOT);
  }

  private static long count(Band band, WaitEnd how) {
    return Arrays.stream(band.ended().buckets(how)).sum();
  }

  /** Histograms of what happened at all. */
  private static void waits(
      StringBuilder page, String name, String label, QueueSnapshot queues, boolean upstream) {
    boolean first = true;
    long[] bounds = WaitCounters.bounds();
    for (Band band : queues.bands()) {
      for (WaitEnd how : WaitEnd.values()) {
        long count = count(band, how);
        if (count == 0) {
          continue;
        }
        if (first) {
          header(page, name, "histogram", "Time that requests waited that found no room at once.");
          first = false;
        }
        String outcome = upstream ? OUTCOMES.get(how) : code(how);
        String labels =
            labels(band, "outcome=\"" + outcome + "\"" + (label.isEmpty() ? "" : "," + label));
        long[] buckets = band.ended().buckets(how);
        long below = 0;
        for (int i = 0; i < bounds.length; i++) {
          below += buckets[i];
          String bound = Double.toString(bounds[i] / NANOS_PER_SECOND);
          sample(page, name + "_bucket", "{" + labels + ",le=\"" + bound + "\"}", (double) below);
        }
        sample(page, name + "_bucket", "{" + labels + ",le=\"+Inf\"}", (double) count);
        double seconds = band.ended().nanos(how) / NANOS_PER_SECOND;
        sample(page, name + "_sum", "{" + labels + "}", seconds);
        sample(page, name + "_count", "{" + labels + "}", (double) count);
      }
    }
  }

  private static void header(StringBuilder page, String name, String type, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private static void sample(StringBuilder page, String name, String labels, double value) {
    page.append(name).append(labels).append(' ');
    boolean whole = value == Math.rint(value) && Math.abs(value) < 1e15;
    page.append(whole ? Long.toString((long) value) : Double.toString(value)).append('\n');
  }
}
