package io.fairlead.core;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A core with a clock that only moves when told, and a log of the effects. */
final class Pool implements RequestListener {

  static final EndpointSnapshot.Health WELL =
      new EndpointSnapshot.Health(HealthState.IN_USE, "", 0, 0);

  static final PoolListener PROBES_ARE_NOT_ANSWERED =
      new PoolListener() {
        @Override
        public boolean probe(Probe probe) {
          return true;
        }

        @Override
        public void healthChanged(HealthChange change) {}
      };

  final PoolCore core;
  final List<String> effects = new ArrayList<>();
  final List<Route> routes = new ArrayList<>();
  final List<Rejection> rejections = new ArrayList<>();
  long now;

  Pool() {
    this(PoolLimits.DEFAULT);
  }

  Pool(PoolLimits limits) {
    core = new PoolCore(limits);
  }

  /** One whose endpoints are probed, and which keeps receipts. */
  Pool(PoolListener endpoints) {
    core =
        new PoolCore(
            new PoolLimits(4, 1 << 16, 1 << 20, 256 << 20, Long.MAX_VALUE, 1 << 20), endpoints);
  }

  static PoolConfig config(SchedulerConfig scheduler, ModelConfig... models) {
    return config(RequestsConfig.DEFAULT, scheduler, models);
  }

  static PoolConfig config(
      RequestsConfig requests, SchedulerConfig scheduler, ModelConfig... models) {
    return new PoolConfig(
        "default",
        "pool",
        Map.of("app", "vllm"),
        List.of(8000),
        "http",
        List.of(models),
        requests,
        scheduler);
  }

  static ModelConfig model(String name, Criticality criticality, TargetModel... targets) {
    return new ModelConfig(name, criticality, List.of(targets));
  }

  /** The same snapshot as of an endpoint that is well and was never scraped. */
  static EndpointSnapshot accounts(EndpointSnapshot of) {
    return new EndpointSnapshot(
        of.name(),
        of.inFlight(),
        of.awaitingFirstToken(),
        of.scrapedWaiting(),
        of.kvUsage(),
        of.sent(),
        of.matchedBlocks(),
        of.promptBlocks(),
        of.leaving(),
        WELL,
        Long.MIN_VALUE);
  }

  /** A config with which an endpoint has room for so many requests, and more have to wait. */
  static CompiledConfig withRoom(long requests, ModelConfig... models) {
    return new ConfigCompiler(List.of())
        .compile(
            config(
                new SchedulerConfig(
                    List.of(
                        new PluginConfig(
                            "room", "concurrency-detector", Map.of("maxConcurrency", requests)),
                        new PluginConfig("queue", "queue-scorer", Map.of())),
                    List.of(),
                    "room"),
                models));
  }

  static EndpointSpec endpoint(String name) {
    return endpoint(name, "1");
  }

  static EndpointSpec endpoint(String name, String incarnation) {
    return new EndpointSpec(name, incarnation, "10.0.0.1", 8000, Map.of());
  }

  static RequestFacts request(String model, long seed, long... blocks) {
    return new RequestFacts(model, seed, blocks, blocks.length * 16, -1, blocks.length * 64L);
  }

  Pool configure(ModelConfig... models) {
    return configure(SchedulerConfig.DEFAULT, models);
  }

  Pool configure(SchedulerConfig scheduler, ModelConfig... models) {
    core.configure(now, new ConfigCompiler(List.of()).compile(config(scheduler, models)));
    return this;
  }

  /** A config in which nobody waits for room. */
  static SchedulerConfig atOnce(List<PluginConfig> plugins, List<ProfileConfig> profiles) {
    return new SchedulerConfig(
        plugins, profiles, null, Map.of("flowControl", false), null, null, List.of());
  }

  Pool endpoints(String... names) {
    core.endpoints(now, List.of(names).stream().map(Pool::endpoint).toList());
    return this;
  }

  long arrive(String model, long... blocks) {
    return core.arrive(now, request(model, effects.size(), blocks), this);
  }

  /** A request that is answered in full. */
  void serve(String model, long... blocks) {
    long ticket = arrive(model, blocks);
    core.firstByte(now, ticket);
    core.ended(now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
  }

  Route lastRoute() {
    return routes.getLast();
  }

  EndpointSnapshot snapshot(String name) {
    return core.snapshot().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
  }

  @Override
  public void send(long request, Route route) {
    routes.add(route);
    effects.add(request + " " + route);
  }

  @Override
  public void pass(long request) {
    effects.add(request + " passed");
  }

  @Override
  public void reject(long request, Rejection rejection) {
    rejections.add(rejection);
    effects.add(request + " " + rejection);
  }

  @Override
  public void evict(long request, Rejection rejection) {
    effects.add(request + " asked to end");
  }
}
