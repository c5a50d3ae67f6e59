package io.fairlead.lab.simulator;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Follower;
import io.fairlead.core.HealthChange;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PoolListener;
import io.fairlead.core.Probe;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.RequestHeaders;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.core.handover.News;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.prefix.EngineCache;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.CompiledShadow;
import io.fairlead.core.scheduling.KvEventsSource;
import io.fairlead.core.scheduling.TokenizerSource;
import io.fairlead.core.shadow.Shadow;
import io.fairlead.core.shadow.ShadowSnapshot;
import io.fairlead.lab.simulator.SimulationSpec.Client;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/** One replica of the endpoint picker: the production core, told what it would be told. */
final class SimulatedPicker implements PoolListener {

  /** Tells it from all others of the run. */
  private final long number;

  private final PoolCore core = new PoolCore(PoolLimits.DEFAULT, this);
  private final Map<String, Shadow> shadows = new LinkedHashMap<>();

  /** What others have sent, of those that it hears. */
  private final Map<SimulatedPicker, Follower> followed = new HashMap<>();

  /** What each engine has told of its cache; of those that this picker has heard. */
  private final Map<SimulatedServer, EngineCache> caches = new HashMap<>();

  /** Tokens between two places where a prompt is compared with caches; 0 where it is not. */
  private final int grain;

  /** Whether engines are listened to. */
  private final boolean listens;

  private final boolean fromTheBeginning;

  /** When the event under way happens. */
  private long at;

  private final Client client;
  private final Senses senses;
  private final Effects effects;
  private final Queue<Effect> wanted = new ArrayDeque<>();
  private boolean carryingOut;

  /** Who does what the core wants. */
  interface Effects {
    void carryOut(long now, SimulatedPicker picker, Effect effect);
  }

  SimulatedPicker(
      long number,
      CompiledConfig config,
      long now,
      List<SimulatedServer> pool,
      Client client,
      Senses senses,
      Effects effects) {
    this.number = number;
    this.client = client;
    this.senses = senses;
    this.effects = effects;
    KvEventsSource source = config.kvEvents();
    listens = source != null;
    fromTheBeginning = now == 0;
    boolean compares =
        config.settings(TokenizerSource.class).stream().anyMatch(TokenizerSource::isThere);
    grain = source == null || !compares ? 0 : source.grain();
    core.configure(now, config);
    core.endpoints(now, specs(pool));
    for (CompiledShadow tried : config.shadows()) {
      Shadow shadow = new Shadow(PoolLimits.DEFAULT);
      shadow.configure(now, tried.config(), true);
      shadow.endpoints(now, specs(pool));
      shadows.put(tried.name(), shadow);
    }
  }

  /** How its shadows do. */
  Map<String, ShadowSnapshot> shadows() {
    Map<String, ShadowSnapshot> told = new LinkedHashMap<>();
    shadows.forEach((name, shadow) -> told.put(name, shadow.snapshot()));
    return told;
  }

  private static List<EndpointSpec> specs(List<SimulatedServer> pool) {
    return pool.stream().map(SimulatedServer::spec).toList();
  }

  /** The pool has these servers from now on. */
  void endpoints(long now, List<SimulatedServer> pool) {
    begin(now);
    core.endpoints(now, specs(pool));
    shadows.values().forEach(shadow -> shadow.endpoints(now, specs(pool)));
    carryOut(now);
  }

  /** So many pickers share the pool from now on. */
  void replicas(int count) {
    core.replicas(count);
    shadows.values().forEach(shadow -> shadow.replicas(count));
  }

  /** A page that was asked for at {@code begunAt} is there. */
  void scraped(long now, SimulatedServer server, long begunAt, EndpointMetrics page) {
    begin(now);
    core.scraped(now, server.spec(), begunAt, page);
    shadows.values().forEach(shadow -> shadow.scraped(now, server.spec(), begunAt, page));
    carryOut(now);
  }

  /** An engine has told what happened to its cache. */
  void cacheTold(long now, SimulatedServer server, List<CacheEvent> events) {
    if (!listens) {
      return;
    }
    begin(now);
    EngineCache cache =
        caches.computeIfAbsent(server, s -> new EngineCache(grain, s.engine().blocks() + 1));
    CacheChange change = new CacheChange();
    for (CacheEvent event : events) {
      if (!cache.apply(event, change)) {
        throw new IllegalStateException(server.spec().name() + " holds more than it has room for");
      }
    }
    core.cacheChanged(server.spec(), grain, change.whole(fromTheBeginning));
    carryOut(now);
  }

  void unreachable(long now, SimulatedServer server, long begunAt, Failure failure) {
    begin(now);
    core.unreachable(now, server.spec(), begunAt, failure);
    shadows.values().forEach(shadow -> shadow.unreachable(now, server.spec(), begunAt, failure));
    carryOut(now);
  }

  void tick(long now) {
    begin(now);
    core.tick(now);
    shadows.values().forEach(shadow -> shadow.tick(now));
    carryOut(now);
  }

  void arrive(long now, Flight flight, long seed) {
    Seen seen = senses.prompt(flight.shape);
    RequestFacts facts =
        new RequestFacts(
            "",
            flight.shape.model(),
            seed,
            seen.blocks(),
            seen.size(),
            -1,
            1,
            seen.bodyBytes(),
            new Delivery(flight.streamed, client == Client.GATEWAY),
            Timeouts.UNSET,
            RequestHeaders.NONE,
            null,
            grain == 0 ? null : flight.shape.tokens(grain));
    begin(now);
    if (!shadows.isEmpty()) {
      flight.toShadow = facts;
    }
    flight.ticket = core.arrive(now, facts, flight);
    carryOut(now);
  }

  void firstByte(long now, Flight flight) {
    begin(now);
    core.firstByte(now, flight.ticket);
    shadows.values().forEach(shadow -> shadow.firstByte(now, flight.ticket));
    carryOut(now);
  }

  void progress(long now, Flight flight) {
    begin(now);
    core.progress(now, flight.ticket);
    carryOut(now);
  }

  /** An attempt has failed before its first byte. */
  void attemptFailed(long now, Flight flight, Failure failure) {
    begin(now);
    core.attemptFailed(now, flight.ticket, seen(failure));
    carryOut(now);
  }

  /** A proxy answers for a server that it can't talk to; what happened, it alone knows. */
  private Failure seen(Failure failure) {
    return client == Client.GATEWAY || failure.answered() ? failure : Failure.UNAVAILABLE;
  }

  void finished(long now, Flight flight) {
    ended(now, flight, Outcome.COMPLETED, senses.usage(flight));
  }

  /** Its answer is a failure, or has broken off. */
  void failed(long now, Flight flight) {
    ended(now, flight, Outcome.FAILED, Usage.UNKNOWN);
  }

  /** The server answered that it can't serve this. */
  void refused(long now, Flight flight) {
    ended(now, flight, Outcome.COMPLETED, Usage.UNKNOWN);
  }

  /** Its client won't have an answer any more. */
  void gaveUp(long now, Flight flight) {
    ended(now, flight, Outcome.DISCONNECTED, Usage.UNKNOWN);
  }

  private void ended(long now, Flight flight, Outcome outcome, Usage usage) {
    begin(now);
    core.ended(now, flight.ticket, outcome, usage);
    shadows.values().forEach(shadow -> shadow.ended(now, flight.ticket, outcome, usage));
    carryOut(now);
  }

  /** The core has sent a request: shadows are asked about it the first time. */
  void sent(Flight flight, long ticket, Route route) {
    flight.believedCached = route.expectedCachedTokens();
    RequestFacts asked = flight.toShadow;
    if (asked != null) {
      flight.toShadow = null;
      shadows.values().forEach(shadow -> shadow.sent(at, ticket, asked, route));
    }
  }

  /** The core has given a request up. */
  void gaveUp(long ticket) {
    shadows
        .values()
        .forEach(shadow -> shadow.ended(at, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN));
  }

  private void begin(long now) {
    at = now;
  }

  void probed(long now, Probe probe) {
    begin(now);
    core.probed(now, probe.id());
    carryOut(now);
  }

  void probeFailed(long now, Probe probe, Failure failure) {
    begin(now);
    core.probeFailed(now, probe.id(), failure);
    carryOut(now);
  }

  /** Takes what another has told since the last time. */
  void hear(long now, SimulatedPicker other) {
    begin(now);
    Follower follower = followed.get(other);
    if (follower == null) {
      follower = other.core.follow();
      followed.put(other, follower);
      core.tells(other.number);
      shadows.values().forEach(shadow -> shadow.tells(other.number));
    }
    News news = follower.take(now);
    core.heard(now, other.number, news);
    shadows.values().forEach(shadow -> shadow.heard(now, other.number, news));
    carryOut(now);
  }

  /** Another is no more. */
  void hearsNoMore(long now, SimulatedPicker other) {
    if (followed.remove(other) != null) {
      begin(now);
      core.silent(now, other.number);
      shadows.values().forEach(shadow -> shadow.silent(now, other.number));
      carryOut(now);
    }
  }

  int active() {
    return core.active();
  }

  /** To be carried out when the event is over: the core is not to be called from within it. */
  void wants(Effect effect) {
    wanted.add(effect);
  }

  private void carryOut(long now) {
    if (carryingOut) {
      return;
    }
    carryingOut = true;
    for (Effect next = wanted.poll(); next != null; next = wanted.poll()) {
      effects.carryOut(now, this, next);
    }
    carryingOut = false;
  }

  @Override
  public boolean probe(Probe probe) {
    wants(new Effect.Ask(probe));
    return true;
  }

  @Override
  public void healthChanged(HealthChange change) {
    wants(new Effect.Changed(change));
  }
}
