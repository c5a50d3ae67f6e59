package io.fairlead.epp.telemetry;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.HealthState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.function.ToDoubleFunction;

/**
 * The endpoints' series as text. Written straight from one snapshot, so that a page holds one
 * moment and an endpoint that left leaves no series behind.
 */
final class EndpointLines {

  private EndpointLines() {}

  /**
   * Adds them.
   *
   * @param now of the clock that the snapshots' times are of, in nanoseconds
   */
  static void append(StringBuilder page, List<EndpointSnapshot> all, long now) {
    List<EndpointSnapshot> endpoints = byName(all);
    health(page, endpoints);
    gauge(
        page,
        "in_flight",
        "Requests that this picker sent there and that are not over.",
        endpoints,
        e -> e.inFlight());
    gauge(
        page,
        "awaiting_first_token",
        "Requests in flight there that have no first token yet.",
        endpoints,
        e -> e.awaitingFirstToken());
    gauge(
        page,
        "queue",
        "Requests in the model server's own queue when last scraped.",
        endpoints,
        e -> e.scrapedWaiting());
    gauge(
        page,
        "kv_usage",
        "Share of the KV cache in use when last scraped; NaN when unknown.",
        endpoints,
        EndpointSnapshot::kvUsage);
    gauge(
        page,
        "scrape_age_seconds",
        "Time since the last good scrape was begun; NaN before the first.",
        endpoints,
        e -> e.scrapedAt() == Long.MIN_VALUE ? Double.NaN : (now - e.scrapedAt()) / 1e9);
    gauge(
        page,
        "prefix_hit_ratio",
        "Share of prompt blocks believed cached when sent; NaN before the first.",
        endpoints,
        e -> e.promptBlocks() == 0 ? Double.NaN : (double) e.matchedBlocks() / e.promptBlocks());
    counter(
        page, "sent", "Requests that this picker sent there.", endpoints, EndpointSnapshot::sent);
    counter(
        page,
        "prompt_blocks",
        "Prompt blocks of the requests sent.",
        endpoints,
        EndpointSnapshot::promptBlocks);
    counter(
        page,
        "matched_blocks",
        "Prompt blocks believed cached when sent.",
        endpoints,
        EndpointSnapshot::matchedBlocks);
  }

  /**
   * One for each name: a pod that has left and still has requests counts with the one that came in
   * its place, as a page with two samples of one series is none. What is counted up is that of the
   * newcomer alone: the other gets nothing more, and a sum would fall when it goes.
   */
  private static List<EndpointSnapshot> byName(List<EndpointSnapshot> all) {
    SequencedMap<String, EndpointSnapshot> named = new LinkedHashMap<>();
    for (EndpointSnapshot endpoint : all) {
      named.merge(endpoint.name(), endpoint, EndpointLines::together);
    }
    return List.copyOf(named.values());
  }

  private static EndpointSnapshot together(EndpointSnapshot one, EndpointSnapshot other) {
    EndpointSnapshot here = one.leaving() ? other : one;
    return new EndpointSnapshot(
        here.name(),
        one.inFlight() + other.inFlight(),
        one.awaitingFirstToken() + other.awaitingFirstToken(),
        here.scrapedWaiting(),
        here.kvUsage(),
        here.sent(),
        here.matchedBlocks(),
        here.promptBlocks(),
        here.leaving(),
        here.health(),
        here.scrapedAt());
  }

  private static void health(StringBuilder page, List<EndpointSnapshot> endpoints) {
    if (endpoints.isEmpty()) {
      return;
    }
    String name = "fairlead_endpoint_health";
    header(
        page,
        name,
        "gauge",
        "1 for the state that the endpoint is in: in_use; out, it gets no requests and is"
            + " probed; on_trial, a probe was answered, and it gets one request at a time until"
            + " one succeeds.");
    for (EndpointSnapshot endpoint : endpoints) {
      for (HealthState state : HealthState.values()) {
        page.append(name).append("{endpoint=\"").append(escaped(endpoint.name()));
        page.append("\",state=\"").append(HealthMeters.code(state)).append("\"} ");
        page.append(endpoint.health().state() == state ? 1 : 0).append('\n');
      }
    }
    gauge(
        page,
        "failure_risk",
        "How likely the endpoint fails its next request, 0 to 1, by what it did lately: the higher, the fewer requests it gets.",
        endpoints,
        e -> e.health().failing());
  }

  /** How often each endpoint's metrics could not be read. */
  static void appendScrapeFailures(StringBuilder page, SortedMap<String, Long> failures) {
    if (failures.isEmpty()) {
      return;
    }
    String name = "fairlead_scrape_failures_total";
    header(
        page,
        name,
        "counter",
        "Scrapes of the model server's own metrics that failed, since the endpoint came.");
    failures.forEach((endpoint, count) -> sample(page, name, endpoint, count));
  }

  private static void gauge(
      StringBuilder page,
      String name,
      String help,
      List<EndpointSnapshot> endpoints,
      ToDoubleFunction<EndpointSnapshot> value) {
    series(page, "fairlead_endpoint_" + name, "gauge", help, endpoints, value);
  }

  private static void counter(
      StringBuilder page,
      String name,
      String help,
      List<EndpointSnapshot> endpoints,
      ToDoubleFunction<EndpointSnapshot> value) {
    series(page, "fairlead_endpoint_" + name + "_total", "counter", help, endpoints, value);
  }

  private static void series(
      StringBuilder page,
      String name,
      String type,
      String help,
      List<EndpointSnapshot> endpoints,
      ToDoubleFunction<EndpointSnapshot> value) {
    if (endpoints.isEmpty()) {
      return;
    }
    header(page, name, type, help);
    for (EndpointSnapshot endpoint : endpoints) {
      sample(page, name, endpoint.name(), value.applyAsDouble(endpoint));
    }
  }

  private static void header(StringBuilder page, String name, String type, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private static void sample(StringBuilder page, String name, String endpoint, double value) {
    page.append(name).append("{endpoint=\"").append(escaped(endpoint)).append("\"} ");
    number(page, value);
    page.append('\n');
  }

  private static void number(StringBuilder page, double value) {
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      page.append((long) value);
    } else if (Double.isNaN(value)) {
      page.append("NaN");
    } else {
      page.append(String.format(Locale.ROOT, "%.6f", value));
    }
  }

  static String escaped(String label) {
    return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
