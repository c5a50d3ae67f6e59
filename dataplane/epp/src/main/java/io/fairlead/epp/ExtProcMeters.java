package io.fairlead.epp;

import io.fairlead.epp.frontend.extproc.StreamCounters;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;

/** The ext_proc server's counters as meters. */
final class ExtProcMeters {

  private ExtProcMeters() {}

  /** Reads {@code counters} at every scrape; they live as long as their server. */
  static void register(MeterRegistry registry, StreamCounters counters) {
    Gauge.builder("fairlead.ext.proc.streams.active", counters, StreamCounters::active)
        .description("ext_proc streams open now, one for each request in the proxy.")
        .register(registry);
    counter(
        registry,
        counters,
        "fairlead.ext.proc.streams",
        "ext_proc streams opened.",
        StreamCounters::opened);
    counter(
        registry,
        counters,
        "fairlead.ext.proc.protocol.errors",
        "ext_proc streams ended because the proxy broke the protocol or is set up for another mode.",
        StreamCounters::protocolErrors);
    counter(
        registry,
        counters,
        "fairlead.ext.proc.failures",
        "ext_proc streams ended by an error of the picker.",
        StreamCounters::failures);
  }

  private static void counter(
      MeterRegistry registry,
      StreamCounters counters,
      String name,
      String description,
      ToDoubleFunction<StreamCounters> value) {
    FunctionCounter.builder(name, counters, value).description(description).register(registry);
  }
}
