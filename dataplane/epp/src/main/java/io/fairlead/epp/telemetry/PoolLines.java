package io.fairlead.epp.telemetry;

import io.fairlead.core.EndpointSnapshot;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The pool's series that upstream's pickers have, from one snapshot. */
final class PoolLines {

  private PoolLines() {}

  /**
   * Adds them.
   *
   * @param pool its name, as upstream's label has it
   */
  static void append(StringBuilder page, String pool, List<EndpointSnapshot> all) {
    List<EndpointSnapshot> endpoints = all.stream().filter(e -> !e.leaving()).toList();
    String label = "{name=\"" + EndpointLines.escaped(pool) + "\"} ";
    gauge(page, "ready_pods", "Endpoints that may get requests.", label, endpoints.size());
    if (endpoints.isEmpty()) {
      return;
    }
    gauge(
        page,
        "average_kv_cache_utilization",
        "Mean share of the KV cache in use when last scraped, of those that said so.",
        label,
        mean(endpoints, EndpointSnapshot::kvUsage));
    gauge(
        page,
        "average_queue_size",
        "Mean number of requests in the model servers' own queues when last scraped.",
        label,
        mean(endpoints, EndpointSnapshot::scrapedWaiting));
    gauge(
        page,
        "average_running_requests",
        "Mean number of requests of this picker with a first token and without an end.",
        label,
        mean(endpoints, e -> e.inFlight() - e.awaitingFirstToken()));
    String name = "inference_pool_per_pod_queue_size";
    header(page, name, "Requests in the model server's own queue when last scraped.");
    for (EndpointSnapshot endpoint : endpoints) {
      page.append(name).append("{model_server_pod=\"");
      page.append(EndpointLines.escaped(endpoint.name())).append("\",name=\"");
      page.append(EndpointLines.escaped(pool)).append("\"} ");
      page.append(endpoint.scrapedWaiting()).append('\n');
    }
  }

  private static double mean(
      List<EndpointSnapshot> endpoints, ToDoubleFunction<EndpointSnapshot> value) {
    return endpoints.stream()
        .mapToDouble(value)
        .filter(known -> !Double.isNaN(known))
        .average()
        .orElse(Double.NaN);
  }

  private static void gauge(
      StringBuilder page, String name, String help, String label, double value) {
    String full = "inference_pool_" + name;
    header(page, full, help);
    page.append(full).append(label);
    page.append(Double.isNaN(value) ? "NaN" : String.format(Locale.ROOT, "%.6f", value));
    page.append('\n');
  }

  private static void header(StringBuilder page, String name, String help) {
    page.append("# HELP ").append(name).append(' ').append(help).append('\n');
    page.append("# TYPE ").append(name).append(" gauge\n");
  }
}
