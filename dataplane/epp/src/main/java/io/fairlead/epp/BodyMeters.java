package io.fairlead.epp;

import io.fairlead.epp.memory.BodyBudget;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;

/** The budget of request bodies as meters. */
final class BodyMeters {

  private BodyMeters() {}

  /** Reads {@code bodies} at every scrape. */
  static void register(MeterRegistry registry, BodyBudget bodies) {
    Gauge.builder("fairlead.request.body.memory", bodies, BodyBudget::used)
        .description("Memory that request bodies are charged for now.")
        .baseUnit("bytes")
        .register(registry);
    Gauge.builder("fairlead.request.body.memory.limit", bodies, BodyBudget::limit)
        .description("Memory that request bodies may be charged for: two fifths of the heap.")
        .baseUnit("bytes")
        .register(registry);
    Gauge.builder("fairlead.request.head.memory", bodies, BodyBudget::usedByHeads)
        .description("Memory that requests' heads are charged for now.")
        .baseUnit("bytes")
        .register(registry);
    Gauge.builder("fairlead.request.head.memory.limit", bodies, BodyBudget::limitOfHeads)
        .description(
            "Memory that requests' heads, but for short ones, may be charged for: a tenth of"
                + " the heap.")
        .baseUnit("bytes")
        .register(registry);
    Gauge.builder("fairlead.request.body.memory.waiting", bodies, BodyBudget::waiting)
        .description("Requests that wait for memory for their bodies now.")
        .register(registry);
    FunctionCounter.builder("fairlead.request.body.memory.waits", bodies, BodyBudget::waits)
        .description("Requests that had to wait for memory for their bodies.")
        .register(registry);
    FunctionCounter.builder("fairlead.request.body.memory.refusals", bodies, BodyBudget::refusals)
        .description("Requests refused because there was no memory for their bodies.")
        .register(registry);
  }
}
