package io.fairlead.epp.telemetry;

import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.Criticality;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** The meters of one model, made when first needed. Confined to the pool's loop. */
final class RequestMeters {

  private static final Duration[] BUCKETS = {
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(25),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(250),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofMillis(2500),
    Duration.ofSeconds(5),
    Duration.ofSeconds(10),
    Duration.ofSeconds(30),
    Duration.ofSeconds(60),
    Duration.ofSeconds(120),
    Duration.ofSeconds(300),
    Duration.ofSeconds(600)
  };

  private final MeterRegistry registry;
  private final String model;
  private final Map<Criticality, Map<Outcome, Counter>> ended = new EnumMap<>(Criticality.class);
  private final Map<Criticality, Map<Rejection.Reason, Counter>> rejected =
      new EnumMap<>(Criticality.class);
  private final Map<Criticality, Counter> left = new EnumMap<>(Criticality.class);
  private final Counter promptTokens;
  private final Counter completionTokens;
  private final Counter cachedTokens;
  private final Counter expectedCached;
  private final Counter actualCached;
  private final DistributionSummary cachedError;
  private final Timer ttft;
  private final Timer duration;

  RequestMeters(MeterRegistry registry, String model) {
    this.registry = registry;
    this.model = model;
    for (Criticality criticality : Criticality.values()) {
      ended.put(criticality, new EnumMap<>(Outcome.class));
      rejected.put(criticality, new EnumMap<>(Rejection.Reason.class));
    }
    promptTokens = tokens("prompt", "Prompt tokens as the model servers counted them.");
    completionTokens = tokens("completion", "Tokens produced as the model servers counted them.");
    cachedTokens = tokens("cached", "Prompt tokens that the model servers had in their KV cache.");
    expectedCached =
        prefix(
            "expected",
            "Prompt tokens believed to be cached, in the servers' own count, of responses that"
                + " reported how many were.");
    actualCached = prefix("actual", "Prompt tokens that were cached, of the same responses.");
    cachedError =
        DistributionSummary.builder("fairlead.prefix.error")
            .description("By how many tokens the belief was wrong, of the same responses.")
            .baseUnit("tokens")
            .tag("model", model)
            .serviceLevelObjectives(16, 64, 256, 1024, 4096, 16_384, 65_536)
            .register(registry);
    ttft = timer("fairlead.time.to.first.token", "From a request's arrival to its first token.");
    duration = timer("fairlead.request.duration", "From a request's arrival to its end.");
  }

  void firstToken(long nanos) {
    ttft.record(Duration.ofNanos(nanos));
  }

  /** Nobody sees how it ends, nor when. */
  void left(Criticality criticality) {
    left.computeIfAbsent(criticality, c -> counter(c, "left")).increment();
  }

  void ended(Criticality criticality, Outcome outcome, Usage usage, long nanos) {
    Map<Outcome, Counter> counters = ended.get(criticality);
    if (counters != null) {
      counters.computeIfAbsent(outcome, o -> counter(criticality, o.code())).increment();
    }
    count(promptTokens, usage.promptTokens());
    count(completionTokens, usage.completionTokens());
    count(cachedTokens, usage.cachedTokens());
    duration.record(Duration.ofNanos(nanos));
  }

  /**
   * Measures the prefix index. What was believed is counted in estimated tokens, what is reported
   * in the server's: the share of the prompt is what both can be compared by.
   */
  void cached(Route route, Usage usage) {
    if (usage.cachedTokens() < 0 || usage.promptTokens() <= 0) {
      return;
    }
    double share =
        route.promptTokens() <= 0
            ? 0
            : (double) route.expectedCachedTokens() / route.promptTokens();
    double expected = share * usage.promptTokens();
    expectedCached.increment(expected);
    actualCached.increment(usage.cachedTokens());
    cachedError.record(Math.abs(expected - usage.cachedTokens()));
  }

  void rejected(Rejection rejection) {
    Map<Rejection.Reason, Counter> counters = rejected.get(rejection.criticality());
    if (counters != null) {
      counters
          .computeIfAbsent(
              rejection.reason(), reason -> counter(rejection.criticality(), reason.code()))
          .increment();
    }
  }

  /** Unknown is not counted, and no more of it is known later. */
  private static void count(Counter counter, int tokens) {
    if (tokens > 0) {
      counter.increment(tokens);
    }
  }

  private Counter prefix(String kind, String description) {
    return Counter.builder("fairlead.prefix." + kind + ".cached.tokens")
        .description(description)
        .tag("model", model)
        .register(registry);
  }

  private Counter tokens(String kind, String description) {
    return Counter.builder("fairlead.request." + kind + ".tokens")
        .description(description)
        .tag("model", model)
        .register(registry);
  }

  private Counter counter(Criticality criticality, String outcome) {
    return Counter.builder("fairlead.requests")
        .description("Requests that are over, by how they ended.")
        .tag("model", model)
        .tag("criticality", criticality.wireName().toLowerCase(Locale.ROOT))
        .tag("outcome", outcome)
        .register(registry);
  }

  private Timer timer(String name, String description) {
    return Timer.builder(name)
        .description(description)
        .tag("model", model)
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }
}
