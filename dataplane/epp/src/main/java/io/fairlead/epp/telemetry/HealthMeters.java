package io.fairlead.epp.telemetry;

import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.HealthState;
import io.fairlead.epp.director.EndpointObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts probes and how endpoints' health changes, and logs which endpoint goes out and comes back.
 * Confined to the pool's loop.
 */
public final class HealthMeters implements EndpointObserver {

  private static final Logger LOG = LoggerFactory.getLogger(HealthMeters.class);

  private final MeterRegistry registry;

  /** Registers what is known from the start. */
  public HealthMeters(MeterRegistry registry) {
    this.registry = registry;
    probes("answered");
  }

  @Override
  public void healthChanged(HealthChange change) {
    Counter.builder("fairlead.endpoint.health.transitions")
        .description(
            "How often endpoints' health changed, by what it became and why; each is logged"
                + " with the endpoint's name.")
        .tag("to", code(change.to()))
        .tag("reason", change.reason())
        .register(registry)
        .increment();
    String name = change.endpoint().name();
    if (change.to() == HealthState.IN_USE) {
      LOG.info("{} is in use again: it {}", name, change.reason());
    } else if (change.from() == HealthState.IN_USE) {
      LOG.warn("{} is out: it {}", name, change.reason());
    } else {
      LOG.debug("{} is {}: it {}", name, change.to().words(), change.reason());
    }
  }

  @Override
  public void probed(@Nullable Failure failure) {
    probes(failure == null ? "answered" : Telemetry.code(failure)).increment();
  }

  private Counter probes(String result) {
    return Counter.builder("fairlead.probes")
        .description(
            "Probes of endpoints that get no requests, by what came of them: answered, or how"
                + " they failed.")
        .tag("result", result)
        .register(registry);
  }

  /** A state as labels name it. */
  static String code(HealthState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }
}
