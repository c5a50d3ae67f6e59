package io.fairlead.epp.telemetry;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.director.PassedAnswer;
import io.fairlead.epp.director.RequestObserver;
import io.fairlead.epp.status.EndpointLatency;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Counts and measures requests.
 *
 * <p>The observer's methods and {@link #latencies} run on the pool's loop and own what they touch.
 * Labels come from the config only: a model that it does not name counts as {@code unknown}, so
 * clients can't make series. Where it names none at all, the first models count by name of which a
 * server has served a request, each until nobody has asked for it in an hour and another one needs
 * its place. A call that names no model, such as for the list of models, is no request to one and
 * counts for none.
 */
public final class Telemetry implements RequestObserver {

  private static final String UNKNOWN = "unknown";

  /** Servers that answer whatever the model is called let clients name as many. */
  private static final int MOST_SERVED = 20;

  /** Nobody asks any more for a model that nobody has asked for in so long. */
  private static final long UNUSED_NANOS = TimeUnit.HOURS.toNanos(1);

  private static final int LONGEST_LABEL = 256;

  private final PrometheusMeterRegistry registry;
  private final LongSupplier clock;
  private final Timer scheduling;
  private final Map<Failure, Counter> retries = new EnumMap<>(Failure.class);
  private final Counter givenUp;
  private final ShareHistograms shares;
  private final EventGaps gaps;
  private final Map<String, RequestMeters> meters = new HashMap<>();
  private final Map<String, RollingLatency> latencies = new HashMap<>();

  private final RejectionLog log = new RejectionLog();

  private volatile Set<String> models = Set.of();

  /** What servers have served while the config named no model. */
  private final Set<String> served = new HashSet<>();

  private Runnable onArrival = () -> {};

  /** Nothing counted yet; {@code clock} is monotonic, in nanoseconds. */
  public Telemetry(LongSupplier clock) {
    this.clock = clock;
    registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    scheduling =
        Timer.builder("fairlead.scheduling.latency")
            .description("Time that the core took to decide about a request.")
            .serviceLevelObjectives(schedulingBuckets())
            .register(registry);
    for (Failure failure : Failure.values()) {
      retries.put(failure, retries(code(failure)));
    }
    givenUp = retries("given_up");
    shares = new ShareHistograms(registry.getPrometheusRegistry());
    gaps = new EventGaps(registry.getPrometheusRegistry());
  }

  private Counter retries(String reason) {
    return Counter.builder("fairlead.request.retries")
        .description(
            "Requests sent again, by how the endpoint before failed them; given_up where it"
                + " said nothing for too long.")
        .tag("reason", reason)
        .register(registry);
  }

  /** A failure as labels name it. */
  static String code(Failure failure) {
    return failure.name().toLowerCase(Locale.ROOT);
  }

  /** Where all meters are. */
  public PrometheusMeterRegistry registry() {
    return registry;
  }

  /** The models that get series of their own from now on. Any thread. */
  public void models(PoolConfig config) {
    models =
        config.models().stream().map(ModelConfig::name).collect(Collectors.toUnmodifiableSet());
  }

  /** What clients lately saw of each endpoint. Pool's loop only. */
  public Map<String, EndpointLatency> latencies() {
    long now = clock.getAsLong();
    Map<String, EndpointLatency> all = HashMap.newHashMap(latencies.size());
    latencies.forEach((endpoint, latency) -> all.put(endpoint, latency.read(now)));
    return all;
  }

  /** How soon this endpoint answered lately. Pool's loop only; takes some microseconds. */
  public EndpointLatency latency(String endpoint) {
    RollingLatency latency = latencies.get(endpoint);
    return latency == null ? EndpointLatency.NONE : latency.read(clock.getAsLong());
  }

  /** Forgets all other endpoints. Pool's loop only. */
  public void keepEndpoints(Set<String> names) {
    latencies.keySet().retainAll(names);
  }

  @Override
  public void decided(long nanos) {
    scheduling.record(nanos, TimeUnit.NANOSECONDS);
  }

  /** Calls {@code listener} on the pool's loop at each request; before the first. */
  public void onArrival(Runnable listener) {
    onArrival = listener;
  }

  @Override
  public void arrived(String model, long bodyBytes) {
    onArrival.run();
    if (!model.isEmpty()) {
      metersOf(model).arrived(bodyBytes);
    }
  }

  @Override
  public void sent(String model, Route route) {
    if (!model.isEmpty()) {
      metersOf(model).sent(route, models.contains(model));
    }
  }

  @Override
  public void paced(String model, double nanosPerToken) {
    if (!model.isEmpty()) {
      metersOf(model).paced(nanosPerToken);
    }
  }

  @Override
  public void spread(String model, double nanosPerToken) {
    if (!model.isEmpty()) {
      metersOf(model).spread(nanosPerToken);
    }
  }

  @Override
  public void sentAgain(String model, Route route, @Nullable Failure failure) {
    retries.getOrDefault(failure, givenUp).increment();
  }

  @Override
  public void firstToken(String model, Route route, long nanos) {
    if (model.isEmpty()) {
      return;
    }
    metersOf(model).firstToken(nanos);
    RollingLatency latency = latencies.get(route.endpoint());
    if (latency == null) {
      latency = new RollingLatency(clock.getAsLong());
      latencies.put(route.endpoint(), latency);
    }
    latency.record(clock.getAsLong(), nanos);
  }

  @Override
  public void ended(String model, Route route, Outcome outcome, Usage usage, long nanos) {
    if (model.isEmpty()) {
      return;
    }
    if (outcome == Outcome.COMPLETED) {
      served(model);
    }
    RequestMeters own = metersOf(model);
    own.ended(route.criticality(), outcome, usage, nanos);
    own.cached(route, usage);
  }

  @Override
  public void gaveUp(String model, Criticality criticality, long nanos) {
    if (!model.isEmpty()) {
      metersOf(model).ended(criticality, Outcome.DISCONNECTED, Usage.UNKNOWN, nanos);
    }
  }

  @Override
  public void answered(String model, PassedAnswer answer) {
    if (!model.isEmpty()) {
      metersOf(model).answered(answer);
    }
  }

  @Override
  public void left(String model, Route route) {
    if (!model.isEmpty()) {
      metersOf(model).left(route.criticality());
    }
  }

  @Override
  public void rejected(String model, Rejection rejection) {
    log.rejected(label(model), rejection.reason(), clock.getAsLong());
    if (!model.isEmpty()) {
      metersOf(model).rejected(rejection);
    }
  }

  @Override
  public void refused(String frontend, String code) {
    Counter.builder("fairlead.frontend.refusals")
        .description(
            "Requests refused before they came to the pool, by the code in the answer;"
                + " too_many_streams, and invalid_http, also of streams of HTTP/2 that are reset"
                + " without one.")
        .tag("frontend", frontend)
        .tag("code", code)
        .register(registry)
        .increment();
  }

  @Override
  public void timeoutHeaderIgnored(String reason) {
    Counter.builder("fairlead.timeout.headers.ignored")
        .description(
            "Headers by which requests set their own timeouts and that did not count:"
                + " untrusted, or invalid.")
        .tag("reason", reason)
        .register(registry)
        .increment();
  }

  @Override
  public void flowHeaderIgnored(String reason) {
    Counter.builder("fairlead.flow.headers.ignored")
        .description(
            "Headers for flow control (objective, fairness id, latency objective, longest"
                + " wait) that did not count: untrusted, or invalid.")
        .tag("reason", reason)
        .register(registry)
        .increment();
  }

  private RequestMeters metersOf(String model) {
    String label = label(model);
    RequestMeters known = meters.get(label);
    if (known == null) {
      known = new RequestMeters(registry, shares, gaps, label);
      meters.put(label, known);
    }
    known.used(clock.getAsLong());
    return known;
  }

  private void served(String model) {
    if (models.isEmpty()
        && !served.contains(model)
        && model.length() <= LONGEST_LABEL
        && StandardCharsets.UTF_8.newEncoder().canEncode(model)
        && (served.size() < MOST_SERVED || forgetsOne())) {
      served.add(model);
    }
  }

  /** Whether there was one that nobody asks for any more. */
  private boolean forgetsOne() {
    long now = clock.getAsLong();
    for (String model : served) {
      RequestMeters own = meters.get(model);
      if (own == null || now - own.usedAt() >= UNUSED_NANOS) {
        served.remove(model);
        meters.remove(model);
        forget(model);
        return true;
      }
    }
    return false;
  }

  private void forget(String model) {
    for (Meter meter : registry.getMeters()) {
      if (model.equals(meter.getId().getTag("model"))) {
        registry.remove(meter);
      }
    }
    shares.forget(model);
    gaps.forget(model);
  }

  private String label(String model) {
    Set<String> named = models;
    return (named.isEmpty() ? served : named).contains(model) ? model : UNKNOWN;
  }

  private static Duration[] schedulingBuckets() {
    return new Duration[] {
      Duration.ofNanos(1_000), Duration.ofNanos(2_000), Duration.ofNanos(5_000),
      Duration.ofNanos(10_000), Duration.ofNanos(20_000), Duration.ofNanos(50_000),
      Duration.ofNanos(100_000), Duration.ofNanos(200_000), Duration.ofNanos(500_000),
      Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofMillis(5),
      Duration.ofMillis(10), Duration.ofMillis(50), Duration.ofMillis(100)
    };
  }
}
