package io.fairlead.epp.telemetry;

import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.checkpoint.CheckpointUse;
import io.fairlead.epp.handover.Following;
import io.fairlead.epp.handover.HandOverResult;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Meters of what is not a request: configs, scrapes, the build. Control thread only. */
public final class ProcessMeters {

  private final MeterRegistry registry;
  private final Counter applied;
  private final Counter refused;
  private final MultiGauge config;
  private final LongSupplier sourceFailures;
  private PickerReport last = PickerReport.EMPTY;

  /** Kept here: a counter does not hold on to what it asks. */
  private Supplier<@Nullable Following> following = () -> null;

  /**
   * Registers all of them.
   *
   * @param replicas pickers that share the pool
   */
  public ProcessMeters(MeterRegistry registry, LongSupplier sourceFailures, LongSupplier replicas) {
    this.registry = registry;
    this.sourceFailures = sourceFailures;
    applied = reloads(registry, "applied");
    refused = reloads(registry, "refused");
    config =
        MultiGauge.builder("fairlead.config.info")
            .description("The config in force; 1 for its hash.")
            .register(registry);
    Gauge.builder("fairlead.config.refused", this, m -> m.last.refused() == null ? 0 : 1)
        .description("1 while the newest config is not in force, since it was refused.")
        .register(registry);
    FunctionCounter.builder(
            "fairlead.data.source.failures", this, meters -> meters.sourceFailures.getAsLong())
        .description(
            "Looks of data sources that plugins brought and that failed: no page, one too"
                + " long or too late, or their code threw.")
        .register(registry);
    Gauge.builder("fairlead.pool.endpoints.ready", this, m -> m.last.endpoints().ready())
        .description("Endpoints that may get requests.")
        .register(registry);
    Gauge.builder("fairlead.pool.endpoints.matching", this, m -> m.last.endpoints().matching())
        .description("Endpoints that match the pool's selector, ready or not.")
        .register(registry);
    Gauge.builder("fairlead.pool.replicas", replicas, LongSupplier::getAsLong)
        .description(
            "Pickers that share the pool, this one counted, as far as it knows: the ready"
                + " ones that the EndpointSlices of its Service list.")
        .strongReference(true)
        .register(registry);
    memory(
        registry,
        "heap",
        () -> Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
    memory(registry, "direct", ProcessMeters::direct);
    Gauge.builder("fairlead.build.info", () -> 1)
        .description("The version that runs.")
        .tag("version", version())
        .tag("java", String.valueOf(Runtime.version().feature()))
        .strongReference(true)
        .register(registry);
  }

  /** A config came into force. */
  public void reloaded() {
    applied.increment();
  }

  /** A config was refused. */
  public void refused() {
    refused.increment();
  }

  /** The picker's status changed. */
  public void report(PickerReport report) {
    ConfigHash hash = report.configHash();
    if (hash != null && !hash.equals(last.configHash())) {
      config.register(List.of(MultiGauge.Row.of(Tags.of("hash", hash.hex()), 1)), true);
    }
    last = report;
  }

  /** What is in force may be from the picker's disk. */
  public void checkpoint(CheckpointUse use) {
    inUse("config", use::config);
    inUse("endpoints", use::endpoints);
  }

  /** What came of asking other pickers at the start; null until then. */
  public void handOver(Supplier<@Nullable HandOverResult> result) {
    Gauge.builder(
            "fairlead.handover.seconds",
            result,
            asked -> {
              HandOverResult known = asked.get();
              return known == null ? 0 : known.millis() / 1e3;
            })
        .description(
            "How long this picker has asked others for what they know before it was ready; 0"
                + " where it asks nobody.")
        .strongReference(true)
        .register(registry);
    Gauge.builder(
            "fairlead.handover.prompts",
            result,
            asked -> {
              HandOverResult known = asked.get();
              return known == null ? 0 : known.prompts();
            })
        .description(
            "Prompts in endpoints' caches that another picker has told it of before it was"
                + " ready.")
        .strongReference(true)
        .register(registry);
  }

  /** Other pickers that tell what they send; null where none is asked to. */
  public void following(Supplier<@Nullable Following> others) {
    following = others;
    Gauge.builder(
            "fairlead.handover.peers",
            this,
            meters -> {
              Following known = meters.following.get();
              return known == null ? 0 : known.telling().size();
            })
        .description("Other pickers that tell this one what they send.")
        .register(registry);
    FunctionCounter.builder(
            "fairlead.handover.peer.prompts",
            this,
            meters -> {
              Following known = meters.following.get();
              return known == null ? 0 : known.prompts();
            })
        .description("Prompts that other pickers have sent, as they told this one.")
        .register(registry);
  }

  private void inUse(String part, BooleanSupplier used) {
    Gauge.builder("fairlead.checkpoint.in.use", used, u -> u.getAsBoolean() ? 1 : 0)
        .description(
            "1 while the config, or the endpoints, is what the picker kept on its disk, since"
                + " the API server did not answer when it started; else 0.")
        .tag("part", part)
        .strongReference(true)
        .register(registry);
  }

  private static Counter reloads(MeterRegistry registry, String result) {
    return Counter.builder("fairlead.config.reloads")
        .description("Configs that were seen, by what became of them.")
        .tag("result", result)
        .register(registry);
  }

  private static void memory(MeterRegistry registry, String area, LongSupplier used) {
    Gauge.builder("fairlead.memory", used, LongSupplier::getAsLong)
        .description(
            "Memory in use: of the heap, garbage included, and of direct buffers beside it.")
        .baseUnit("bytes")
        .tag("area", area)
        .strongReference(true)
        .register(registry);
  }

  private static long direct() {
    return ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider told
        ? told.metric().usedDirectMemory()
        : 0;
  }

  private static String version() {
    @Nullable String version = ProcessMeters.class.getPackage().getImplementationVersion();
    return version == null ? "dev" : version;
  }
}
