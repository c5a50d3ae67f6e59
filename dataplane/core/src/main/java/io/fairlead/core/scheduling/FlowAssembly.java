package io.fairlead.core.scheduling;

import io.fairlead.core.flow.BandSettings;
import io.fairlead.core.flow.FlowSettings;
import io.fairlead.core.flow.Limits;
import io.fairlead.core.scheduling.PluginSet.Made;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.FlowControlConfig.Band;
import io.fairlead.crds.config.ImpliedTypes;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.FairnessPolicy;
import io.fairlead.plugin.OrderingPolicy;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.UsageLimitPolicy;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes of a document's flow control what the core carries out. */
final class FlowAssembly {

  /** Upstream's is the order of arrival alone: conversations lose what is cached of them. */
  private static final String ORDERING = "conversation-ordering-policy";

  private static final String USAGE_LIMIT = "static-usage-limit-policy";

  /** Upstream's is static: what came first fills the servers, however unimportant it is. */
  private static final String HOLDBACK = "priority-holdback-policy";

  private static final double LEAST_CEILING = 0.8;

  /** Upstream's is all: who keeps within its share waits for room behind who does not. */
  private static final double OVER_SHARE = 0.8;

  /** Upstream's is strict: one sender with many requests takes it all. */
  private static final String FAIRNESS = "work-fairness-policy";

  private static final Duration TTL = Duration.ofSeconds(60);

  /** What may be dropped is not waited for. */
  private static final Duration NEGATIVE_TTL = Duration.ofSeconds(5);

  /**
   * Pods whose probes all missed in the same second are back with the next one: ten seconds later,
   * where nothing else is said of a readiness probe, and what it takes to hear of it.
   */
  private static final Duration LOSS_TTL = Duration.ofSeconds(15);

  /** Of a queue that stands. */
  private static final Duration STANDING_TTL = Duration.ofMillis(500);

  private static final long BAND_BYTES = 1_000_000_000;
  private static final long BAND_REQUESTS = 5_000;
  private static final double FLOOR = 0.02;
  private static final int FLOWS = 256;

  private static final FlowControlConfig NOTHING_SAID =
      new FlowControlConfig(null, null, null, null, null, null, null, null, null, List.of());

  private final SchedulerConfig scheduler;
  private final FlowControlConfig config;
  private final PluginSet plugins;
  private final Problems problems;

  FlowAssembly(SchedulerConfig scheduler, PluginSet plugins, Problems problems) {
    this.scheduler = scheduler;
    this.config = scheduler.flowControl() == null ? NOTHING_SAID : scheduler.flowControl();
    this.plugins = plugins;
    this.problems = problems;
  }

  /** What the document wants; null where it wants nobody to wait. */
  @Nullable FlowSettings settings() {
    if (!check() || !scheduler.flowControlled()) {
      return null;
    }
    BandSettings standard = band(config.defaultPriorityBand(), TTL);
    // Documents of upstream's first group have one default for all.
    Band below = config.defaultNegativePriorityBand();
    BandSettings negative =
        band(below == null ? config.defaultPriorityBand() : below, NEGATIVE_TTL);
    Map<Long, BandSettings> listed = HashMap.newHashMap(config.priorityBands().size());
    for (Band band : config.priorityBands()) {
      long priority = band.priority() == null ? 0 : band.priority();
      listed.put(priority, band(band, priority < 0 ? NEGATIVE_TTL : TTL));
    }
    return new FlowSettings(
        new Limits(unlimited(config.maxRequests()), unlimited(config.maxBytes())),
        emptyTtl(),
        lossTtl(),
        Boolean.TRUE.equals(config.enableEviction()),
        FLOWS,
        standard,
        negative,
        listed,
        usageLimit());
  }

  /** While there is no endpoint: as long as requests wait else, where the document says that. */
  private long emptyTtl() {
    Duration none = config.noEndpointRequestTtl();
    Duration said = config.defaultRequestTtl();
    if (none != null) {
      return nanos(none);
    }
    return said == null ? 0 : nanos(said);
  }

  /** Who says how long requests wait for an endpoint has said it of this, too. */
  private long lossTtl() {
    return config.noEndpointRequestTtl() == null && config.defaultRequestTtl() == null
        ? nanos(LOSS_TTL)
        : 0;
  }

  private UsageLimitPolicy usageLimit() {
    return config.usageLimitPolicy() == null
        ? plugins.builtIn(
            HOLDBACK,
            Map.of("minCeiling", LEAST_CEILING, "overShare", OVER_SHARE),
            UsageLimitPolicy.class)
        : plugin(
            config.usageLimitPolicy(),
            USAGE_LIMIT,
            ImpliedTypes.USAGE_LIMIT_POLICY,
            UsageLimitPolicy.class);
  }

  /** Whether all numbers can be; the problems of those that can't are noted. */
  private boolean check() {
    String path = "scheduler.flowControl";
    int before = problems.count();
    check(path + ".maxRequests", config.maxRequests());
    check(path + ".maxBytes", config.maxBytes());
    check(path + ".defaultRequestTTL", config.defaultRequestTtl());
    check(path + ".noEndpointRequestTTL", config.noEndpointRequestTtl());
    check(path + ".defaultPriorityBand", config.defaultPriorityBand());
    check(path + ".defaultNegativePriorityBand", config.defaultNegativePriorityBand());
    for (int i = 0; i < config.priorityBands().size(); i++) {
      check(path + ".priorityBands[" + i + "]", config.priorityBands().get(i));
    }
    return problems.count() == before;
  }

  private void check(String path, @Nullable Band band) {
    if (band != null) {
      check(path + ".maxRequests", band.maxRequests());
      check(path + ".maxBytes", band.maxBytes());
    }
  }

  private void check(String path, @Nullable Long number) {
    if (number != null && number < 0) {
      problems.add(path, "is " + number + "; set 0 or more");
    }
  }

  private void check(String path, @Nullable Duration duration) {
    if (duration != null && duration.isNegative()) {
      problems.add(path, "is " + duration + "; set 0 or more");
    }
  }

  private BandSettings band(@Nullable Band band, Duration usualTtl) {
    Duration said = config.defaultRequestTtl();
    return new BandSettings(
        nanos(said == null ? usualTtl : said),
        // Who says how long requests are to wait has them wait so long.
        nanos(said == null ? STANDING_TTL : said),
        FLOOR,
        new Limits(
            or(band == null ? null : band.maxRequests(), BAND_REQUESTS),
            or(band == null ? null : band.maxBytes(), BAND_BYTES)),
        Limits.NONE,
        plugin(
            band == null ? null : band.fairnessPolicy(),
            FAIRNESS,
            ImpliedTypes.FAIRNESS_POLICY,
            FairnessPolicy.class),
        plugin(
            band == null ? null : band.orderingPolicy(),
            ORDERING,
            ImpliedTypes.ORDERING_POLICY,
            OrderingPolicy.class));
  }

  /** Upstream's 0 is no bound. */
  private static long nanos(Duration ttl) {
    return ttl.isZero() ? Long.MAX_VALUE : ttl.toNanos();
  }

  private static long unlimited(@Nullable Long most) {
    return or(most, Long.MAX_VALUE);
  }

  /** Upstream's 0 is the default. */
  private static long or(@Nullable Long most, long usual) {
    return most == null || most == 0 ? usual : most;
  }

  /** The plugin that is named or, where none is or it is another kind, the usual one. */
  private <P extends Plugin> P plugin(
      @Nullable String name, String usual, ImpliedTypes implied, Class<P> kind) {
    Made made = name == null ? null : plugins.get(name);
    return made != null && kind.isInstance(made.plugin())
        ? kind.cast(made.plugin())
        : plugins.builtIn(name != null && implied.has(name) ? name : usual, kind);
  }
}
