package io.fairlead.epp.telemetry;

import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.Criticality;
import io.fairlead.epp.director.PassedAnswer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

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

  private static final Duration[] TOKEN_BUCKETS = {
    Duration.ofMillis(1),
    Duration.ofMillis(2),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(20),
    Duration.ofMillis(30),
    Duration.ofMillis(50),
    Duration.ofMillis(75),
    Duration.ofMillis(100),
    Duration.ofMillis(200),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5)
  };

  private static final double[] TOKEN_COUNTS = {
    1, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576
  };

  private static final double[] BODY_BUCKETS = {
    256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864
  };

  private final MeterRegistry registry;
  private final String model;
  private final Map<Criticality, Map<Outcome, Counter>> ended = new EnumMap<>(Criticality.class);
  private final Map<Criticality, Map<Rejection.Reason, Counter>> rejected =
      new EnumMap<>(Criticality.class);
  private final Map<Criticality, Counter> left = new EnumMap<>(Criticality.class);
  private final Map<String, Counter> targets = new HashMap<>();
  private final DistributionSummary bodyBytes;
  private final DistributionSummary answerBytes;
  private final AtomicLongArray eventGaps;
  private final DistributionSummary promptTokens;
  private final DistributionSummary completionTokens;
  private final DistributionSummary cachedTokens;
  private final Counter expectedCached;
  private final Counter actualCached;
  private final DistributionDataPoint believedShare;
  private final DistributionDataPoint shareError;
  private final Timer ttft;
  private final Timer perToken;
  private final Timer normalized;
  private final Timer duration;
  private long usedAt;

  RequestMeters(MeterRegistry registry, ShareHistograms shares, EventGaps gaps, String model) {
    this.registry = registry;
    this.model = model;
    for (Criticality criticality : Criticality.values()) {
      ended.put(criticality, new EnumMap<>(Outcome.class));
      rejected.put(criticality, new EnumMap<>(Rejection.Reason.class));
    }
    bodyBytes = summary("fairlead.request.body", "Sizes of request bodies.", "bytes", BODY_BUCKETS);
    answerBytes =
        summary(
            "fairlead.response.body",
            "Sizes of the bodies of endpoints' answers, as clients got them, where the"
                + " gateway shows them.",
            "bytes",
            BODY_BUCKETS);
    eventGaps = gaps.of(model);
    promptTokens = tokens("prompt", "Prompt tokens, as the model servers' usage reports them.");
    completionTokens =
        tokens("completion", "Tokens of answers, as the model servers' usage reports them.");
    cachedTokens =
        tokens(
            "cached",
            "Prompt tokens that were in the KV cache, as the model servers' usage reports"
                + " them.");
    expectedCached =
        prefix(
            "expected",
            "Prompt tokens believed to be cached, in the servers' own count, of responses that"
                + " reported how many were.");
    actualCached =
        prefix(
            "actual", "Prompt tokens that were cached, of responses that reported how many were.");
    believedShare = shares.believed(model);
    shareError = shares.error(model);
    ttft =
        timer(
            "fairlead.time.to.first.token",
            "From a request's arrival to its first token, of streamed answers: the first byte"
                + " of an answer in one piece is no first token.");
    perToken =
        timer(
            "fairlead.time.per.output.token",
            "From token to token after the first: the mean of each streamed answer that ended"
                + " whole and reported how many tokens it has. Of several choices (n), whose tokens"
                + " come side by side, it is per choice.",
            TOKEN_BUCKETS);
    normalized =
        timer(
            "fairlead.request.duration.per.output.token",
            "From a request's arrival to its end for each token of the answer, streamed or"
                + " not; of several choices (n) per choice.",
            TOKEN_BUCKETS);
    duration = timer("fairlead.request.duration", "From a request's arrival to its end.");
  }

  /** Something of a request of the model was told, in nanoseconds of the owner's clock. */
  void used(long now) {
    usedAt = now;
  }

  long usedAt() {
    return usedAt;
  }

  void arrived(long bytes) {
    bodyBytes.record((double) bytes);
  }

  void answered(PassedAnswer answer) {
    answerBytes.record((double) answer.bytes());
    if (answer.events() > 1) {
      EventGaps.add(eventGaps, answer);
    }
  }

  /**
   * It was sent.
   *
   * @param configured whether the config names the model, and so its targets: clients must not
   */
  void sent(Route route, boolean configured) {
    if (configured && !route.targetModel().equals(model)) {
      targets
          .computeIfAbsent(
              route.targetModel(),
              target ->
                  Counter.builder("fairlead.model.rewrites")
                      .description("Requests sent for another model than was asked for.")
                      .tag("model", model)
                      .tag("target", target)
                      .register(registry))
          .increment();
    }
    if (route.promptTokens() > 0) {
      believedShare.observe((double) route.expectedCachedTokens() / route.promptTokens());
    }
  }

  void paced(double nanosPerToken) {
    perToken.record((long) nanosPerToken, TimeUnit.NANOSECONDS);
  }

  void spread(double nanosPerToken) {
    normalized.record((long) nanosPerToken, TimeUnit.NANOSECONDS);
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
    double reported = Math.min(1, (double) usage.cachedTokens() / usage.promptTokens());
    shareError.observe(Math.abs(share - reported));
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
  private static void count(DistributionSummary summary, int tokens) {
    if (tokens >= 0) {
      summary.record(tokens);
    }
  }

  private Counter prefix(String kind, String description) {
    return Counter.builder("fairlead.prefix." + kind + ".cached.tokens")
        .description(description)
        .tag("model", model)
        .register(registry);
  }

  /** Their sizes, and of these their sum as a counter of its own name. */
  private DistributionSummary tokens(String kind, String description) {
    DistributionSummary sizes =
        summary(
            "fairlead.request." + kind + ".size",
            description + " Of each request.",
            "tokens",
            TOKEN_COUNTS);
    FunctionCounter.builder(
            "fairlead.request." + kind + ".tokens", sizes, DistributionSummary::totalAmount)
        .description(description)
        .tag("model", model)
        .register(registry);
    return sizes;
  }

  private DistributionSummary summary(
      String name, String description, String unit, double[] buckets) {
    return DistributionSummary.builder(name)
        .description(description)
        .baseUnit(unit)
        .tag("model", model)
        .serviceLevelObjectives(buckets)
        .register(registry);
  }

  private Counter counter(Criticality criticality, String outcome) {
    return Counter.builder("fairlead.requests")
        .description(
            "Requests that are over, by how they ended: completed; refused, invalid or failed"
                + " by the model server; disconnected by the client; left to the gateway; or why"
                + " they were rejected.")
        .tag("model", model)
        .tag("criticality", criticality.wireName().toLowerCase(Locale.ROOT))
        .tag("outcome", outcome)
        .register(registry);
  }

  private Timer timer(String name, String description) {
    return timer(name, description, BUCKETS);
  }

  private Timer timer(String name, String description, Duration[] buckets) {
    return Timer.builder(name)
        .description(description)
        .tag("model", model)
        .serviceLevelObjectives(buckets)
        .register(registry);
  }
}
