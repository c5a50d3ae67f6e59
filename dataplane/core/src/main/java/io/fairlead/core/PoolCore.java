package io.fairlead.core;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.CompiledModel;
import io.fairlead.core.scheduling.Scheduler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.Observer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One pool's decisions and accounts: a state machine that takes events and returns effects.
 *
 * <p>Not thread-safe: owned by one loop. Every event carries the time, in nanoseconds of any
 * monotonic clock. Events on a request that has ended, or never was, change nothing: tickets are
 * never reused.
 */
public final class PoolCore {

  /** Saturation from which on an endpoint gets no sheddable requests. */
  private static final double FULL = 1;

  private final PoolLimits limits;

  @SuppressWarnings("unused")
  private final PoolListener listener;

  private final PrefixIndex prefixes;
  private final EndpointSet endpoints;
  private final RequestTable requests;
  private final CurrentRequest current;
  private @Nullable CompiledConfig config;

  private final RouteHeaders headers = new RouteHeaders();
  private final EndedRequest completion = new EndedRequest();

  /** A pool without config and endpoints, with the default limits. */
  public PoolCore() {
    this(PoolLimits.DEFAULT);
  }

  /** A pool without config and endpoints that probes nobody. */
  public PoolCore(PoolLimits limits) {
    this(limits, PoolListener.NONE);
  }

  /** A pool without config and endpoints. */
  public PoolCore(PoolLimits limits, PoolListener listener) {
    this.limits = limits;
    this.listener = listener;
    this.prefixes = new PrefixIndex(limits.unknownPrefixBlocks(), limits.maxPrefixBytes());
    this.endpoints = new EndpointSet(prefixes, limits);
    this.requests = new RequestTable(limits.retries());
    this.current = new CurrentRequest(prefixes);
  }

  /** Applies a config at once: every later event sees it, no earlier one does. */
  public void configure(long now, CompiledConfig config) {
    List<Observer> before = this.config == null ? List.of() : this.config.observers();
    List<EndpointState> all = endpoints.all();
    // What may throw comes first: a config is applied as a whole or not at all.
    int[] partitions = all.stream().mapToInt(config.scheduler()::partition).toArray();
    for (Observer observer : config.observers()) {
      if (!before.contains(observer)) {
        all.forEach(observer::joined);
      }
    }
    for (int i = 0; i < partitions.length; i++) {
      all.get(i).partition(partitions[i]);
    }
    this.config = config;
    current.maxBlocks(config.prefix().maxBlocks());
    endpoints.prefixSettings(config.prefix());
  }

  /**
   * Sets which endpoints may get requests. One that is missing gets no new requests; those in
   * flight on it go on and stay counted. One with a new incarnation, address or port starts afresh;
   * one that comes back unchanged goes on, but what was scraped of it is unknown again.
   *
   * @throws IllegalArgumentException if a name is there twice; nothing is changed then
   * @throws PluginFailedException if a plugin is broken; the endpoints are in force nevertheless
   */
  public void endpoints(long now, List<EndpointSpec> endpoints) {
    List<EndpointState> newcomers = this.endpoints.replace(now, endpoints);
    CompiledConfig active = config;
    if (active != null) {
      tell(active, newcomers);
    }
  }

  /** Tells every plugin of every endpoint, however many of them fail. */
  private void tell(CompiledConfig active, List<EndpointState> newcomers) {
    @Nullable Throwable failure = null;
    for (EndpointState endpoint : endpoints.eligible()) {
      try {
        endpoint.partition(active.scheduler().partition(endpoint));
      } catch (RuntimeException | Error e) {
        failure = e;
      }
    }
    for (Observer observer : active.observers()) {
      for (EndpointState newcomer : newcomers) {
        try {
          observer.joined(newcomer);
        } catch (RuntimeException | Error e) {
          failure = e;
        }
      }
    }
    if (failure != null) {
      throw new PluginFailedException(failure);
    }
  }

  /**
   * Takes in a scrape. One of an endpoint that has left since is ignored, also when the same name
   * or even the same process has come back: what it said is of its former life.
   *
   * @param endpoint who was scraped
   * @param begunAt when the scrape was begun, by the same clock as {@code now}
   */
  public void scraped(long now, EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
    endpoints.scraped(endpoint, begunAt, metrics);
  }

  /**
   * A request came. Its effect, {@link RequestListener#send} or {@link RequestListener#reject},
   * comes before this returns.
   *
   * @return the request's ticket, also passed to the listener
   * @throws RuntimeException or an {@code Error}, whatever a broken plugin throws; the request has
   *     been rejected then
   */
  public long arrive(long now, RequestFacts facts, RequestListener listener) {
    Flight flight = requests.add(facts, listener);
    long ticket = flight.ticket;
    decide(now, flight);
    return ticket;
  }

  /**
   * The endpoint did not take the request: it broke before the first response byte. Causes another
   * send, to an endpoint not tried yet, or a rejection. After a first token there is no other send.
   *
   * @throws RuntimeException if a plugin is broken, as an Error when it threw one; the request has
   *     been rejected then
   */
  public void attemptFailed(long now, long request, Failure failure) {
    Flight flight = requests.get(request);
    if (flight == null) {
      return;
    }
    boolean last = flight.firstTokenSeen || flight.attempts > limits.retries();
    EndpointState endpoint = flight.at;
    if (endpoint != null) {
      flight.failed(endpoint);
      withdraw(flight);
      completion.set(now, flight, endpoint, Outcome.FAILED, Usage.UNKNOWN);
      settle(now, flight);
    }
    try {
      if (last) {
        reject(flight, criticalityOf(flight.facts), Reason.UPSTREAM_FAILED);
      } else {
        decide(now, flight);
      }
    } finally {
      if (endpoint != null && requests.get(request) == null) {
        tellEnded(observers());
      } else {
        completion.clear();
      }
    }
  }

  /**
   * The first byte of the response's body came; of a streamed one that is its first token. Later
   * calls change nothing.
   */
  public void firstByte(long now, long request) {
    Flight flight = requests.get(request);
    if (flight == null || flight.firstTokenSeen || flight.at == null) {
      return;
    }
    flight.firstTokenSeen = true;
    flight.firstTokenAt = now;
    // Confirms what was learned when it was sent, if a failed request has withdrawn it since.
    confirm(flight, flight.at);
    if (flight.prefillAt != null) {
      confirm(flight, flight.prefillAt);
    }
    prefilled(now, flight);
    flight.at.firstToken(now, flight);
  }

  /**
   * More of the response came. Says that the endpoint is alive: to be told now and then while bytes
   * come, not of each.
   */
  public void progress(long now, long request) {}

  /**
   * Time has moved on: deadlines pass, probes fall due. To be called some ten times a second,
   * whatever else happens.
   */
  public void tick(long now) {}

  /**
   * A scrape of the endpoint failed. One of an endpoint that has left since is ignored.
   *
   * @param begunAt when the scrape was begun, by the same clock as {@code now}
   */
  public void unreachable(long now, EndpointSpec endpoint, long begunAt, Failure failure) {}

  /**
   * A probe was answered with anything below 500. Answers that come too late, or twice, change
   * nothing.
   *
   * @param probe {@link Probe#id}
   */
  public void probed(long now, long probe) {}

  /** A probe failed. */
  public void probeFailed(long now, long probe, Failure failure) {}

  private void confirm(Flight flight, EndpointState endpoint) {
    prefixes.learn(endpoint.slot(), flight.salt, flight.facts.blocks(), flight.blocks);
  }

  /**
   * The request is over; its capacity is free again.
   *
   * @throws RuntimeException if a plugin is broken, as an Error when it threw one; the request is
   *     over nevertheless
   */
  public void ended(long now, long request, Outcome outcome, Usage usage) {
    Flight flight = requests.get(request);
    if (flight == null) {
      return;
    }
    EndpointState endpoint = flight.at;
    List<Observer> observers = endpoint == null ? List.of() : observers();
    if (endpoint != null && !observers.isEmpty()) {
      completion.set(now, flight, endpoint, outcome, usage);
    }
    if (endpoint != null) {
      if (flight.firstTokenSeen) {
        // An engine frees a request's blocks when it ends: that is when they were last used.
        confirm(flight, endpoint);
      } else {
        withdraw(flight);
      }
    }
    settle(now, flight);
    requests.remove(flight);
    tellEnded(observers);
  }

  private List<Observer> observers() {
    return config == null ? List.of() : config.observers();
  }

  /** Tells every observer, however many of them fail. */
  private void tellEnded(List<Observer> observers) {
    @Nullable Throwable failure = null;
    for (Observer observer : observers) {
      try {
        observer.completed(completion);
      } catch (RuntimeException | Error e) {
        failure = e;
      }
    }
    completion.clear();
    switch (failure) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case null, default -> {}
    }
  }

  /** Requests sent or waiting that have not ended. */
  public int active() {
    return requests.active();
  }

  /** Whether a config has been applied and there is an endpoint to send to. */
  public boolean ready() {
    return config != null && endpoints.eligible().length > 0;
  }

  /** State of every endpoint, leaving ones included, by name. */
  public List<EndpointSnapshot> snapshot() {
    return endpoints.snapshot();
  }

  /**
   * Sends the request or rejects it: exactly one effect, also when a plugin throws. The listener is
   * called last, when the accounts are straight.
   */
  private void decide(long now, Flight flight) {
    CompiledConfig active = config;
    if (active == null) {
      reject(flight, Criticality.STANDARD, Reason.NOT_CONFIGURED);
      return;
    }
    CompiledModel model = active.model(flight.facts.model());
    Criticality criticality = model.criticality();
    @Nullable Reason refused;
    @Nullable Route route = null;
    try {
      refused = choose(now, flight, model, active);
      if (refused == null) {
        route = place(now, flight, criticality, active);
      }
    } catch (RuntimeException | Error e) {
      withdraw(flight);
      settle(now, flight);
      reject(flight, criticality, Reason.PLUGIN_FAILED);
      throw e;
    } finally {
      current.done();
      headers.clear();
    }
    if (route != null) {
      flight.listener.send(flight.ticket, route);
    } else if (refused != null) {
      reject(flight, criticality, refused);
    }
  }

  /** Leaves the choice in the config's scheduler; returns why not when nobody gets it. */
  private @Nullable Reason choose(
      long now, Flight flight, CompiledModel model, CompiledConfig active) {
    Criticality criticality = model.criticality();
    RequestFacts facts = flight.facts;
    boolean retry = flight.attempts > 0;
    EndpointState[] eligible = endpoints.eligible();
    current.start(now, facts, criticality, endpoints);
    current.target(model.target(current));
    boolean sheddable = criticality == Criticality.SHEDDABLE;
    int full = 0;
    if (retry || sheddable || facts.subset() != null) {
      current.none();
      for (int i = 0; i < eligible.length; i++) {
        EndpointState endpoint = eligible[i];
        if ((retry && flight.hasTried(endpoint)) || !allowed(facts, endpoint)) {
          continue;
        }
        if (sheddable && active.saturation().saturation(endpoint) >= FULL) {
          full++;
        } else {
          current.candidate(i);
        }
      }
    }
    if (current.size() == 0) {
      return full > 0 ? Reason.SATURATED : nobody(retry, Reason.NO_READY_ENDPOINTS);
    }
    boolean found = active.scheduler().schedule(current, current);
    if (found) {
      return null;
    }
    return full > 0 ? Reason.SATURATED : nobody(retry, Reason.NO_SUITABLE_ENDPOINT);
  }

  private static boolean allowed(RequestFacts facts, EndpointState endpoint) {
    return facts.subset() == null || facts.subset().allows(endpoint.address(), endpoint.port());
  }

  /** To the client of a retried request, what failed tells more than why there is no third one. */
  private static Reason nobody(boolean retry, Reason otherwise) {
    return retry ? Reason.UPSTREAM_FAILED : otherwise;
  }

  /** Books the request on what the scheduler chose. */
  private Route place(long now, Flight flight, Criticality criticality, CompiledConfig active) {
    Scheduler scheduler = active.scheduler();
    int primary = scheduler.primary();
    int prefill = scheduler.prefill();
    EndpointState endpoint = current.endpoint(primary);
    EndpointState prefiller = prefill == Scheduler.NONE ? endpoint : current.endpoint(prefill);
    int matched = current.matchedBlocks(primary);

    flight.target = current.targetModel();
    flight.salt = current.salt();
    flight.critical = criticality == Criticality.CRITICAL;
    flight.sheddable = criticality == Criticality.SHEDDABLE;
    flight.blocks = current.cacheableBlocks();
    flight.matched = matched;
    int matchedThere = prefiller == endpoint ? matched : current.matchedBlocks(prefill);
    flight.matchedAtPrefill = matchedThere;
    flight.prefilledElsewhere = prefiller != endpoint;
    flight.cached = current.cachedTokensOf(matchedThere);
    flight.sentAt = now;
    flight.attempts++;
    flight.at = endpoint;
    current.learn(endpoint);
    endpoint.sent(now, flight, matched);
    if (prefiller != endpoint) {
      current.learn(prefiller);
      prefiller.sent(now, flight, matchedThere);
      flight.prefillAt = prefiller;
    }
    prefiller.prefills().add(now, flight);
    prefiller.publish();

    scheduler.handOvers(current, headers);
    for (Observer observer : active.observers()) {
      observer.dispatched(current, endpoint, headers);
    }
    return new Route(
        flight.target,
        criticality,
        endpoint.name(),
        endpoint.address(),
        endpoint.port(),
        matched,
        flight.cached,
        flight.attempts,
        scheduler.fallbacks(current),
        headers.request(),
        headers.response());
  }

  private void reject(Flight flight, Criticality criticality, Reason reason) {
    long ticket = flight.ticket;
    RequestListener listener = flight.listener;
    requests.remove(flight);
    listener.reject(ticket, new Rejection(reason, criticality, reason.message()));
  }

  /** Takes the current attempt off the accounts. */
  private void settle(long now, Flight flight) {
    EndpointState endpoint = flight.at;
    if (endpoint != null) {
      if (!flight.firstTokenSeen) {
        prefilled(now, flight);
      }
      endpoint.ended(now, flight, flight.firstTokenSeen);
      flight.at = null;
      endpoints.ended(endpoint);
    }
  }

  /** The prompt is computed, or nobody waits for it any more. */
  private void prefilled(long now, Flight flight) {
    EndpointState prefiller = flight.prefillAt;
    if (prefiller != null) {
      flight.prefillAt = null;
      prefiller.prefills().remove(now, flight);
      prefiller.ended(now, flight, false);
      endpoints.ended(prefiller);
    } else if (flight.at != null) {
      flight.at.prefills().remove(now, flight);
    }
  }

  /** The prompt was not computed: the endpoint holds no more of it than before. */
  private void withdraw(Flight flight) {
    if (flight.at == null || flight.firstTokenSeen) {
      return;
    }
    withdraw(flight, flight.at, flight.matched);
    if (flight.prefillAt != null) {
      withdraw(flight, flight.prefillAt, flight.matchedAtPrefill);
    }
  }

  private void withdraw(Flight flight, EndpointState endpoint, int kept) {
    prefixes.withdraw(endpoint.slot(), flight.salt, flight.facts.blocks(), flight.blocks, kept);
  }

  private Criticality criticalityOf(RequestFacts facts) {
    return config == null ? Criticality.STANDARD : config.model(facts.model()).criticality();
  }
}
