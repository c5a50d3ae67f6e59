package io.fairlead.core;

import io.fairlead.core.Flight.Phase;
import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.health.PoolHealth;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.CompiledModel;
import io.fairlead.core.scheduling.Scheduler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.SaturationDetector;
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

  private final PoolHealth health;
  private final Bookings bookings;
  private final CandidateChoice candidates;
  private final AttemptRules attempts;
  private final PrefixIndex prefixes;
  private final EndpointSet endpoints;
  private final RequestTable requests;
  private final LeftRequests left;
  private final CurrentRequest current;
  private final TokenEstimate tokens = new TokenEstimate();
  private @Nullable CompiledConfig config;

  private final RouteHeaders headers = new RouteHeaders();
  private final EndedRequest completion = new EndedRequest();

  /** Observers that were told that the request which is being sent is. */
  private int told;

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
    this.health = new PoolHealth(listener);
    this.prefixes = new PrefixIndex(limits.unknownPrefixBlocks(), limits.maxPrefixBytes());
    this.endpoints = new EndpointSet(prefixes, limits, tokens, health);
    this.requests = new RequestTable(limits.retries());
    this.left = new LeftRequests();
    this.current = new CurrentRequest(prefixes, tokens);
    this.bookings = new Bookings(prefixes, endpoints);
    this.candidates = new CandidateChoice(endpoints, health, current);
    this.attempts = new AttemptRules(limits, health, candidates);
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
    attempts.budget().share(config.retryBudget());
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
    EndpointState state = endpoints.asked(endpoint, begunAt);
    if (state == null) {
      return;
    }
    if (state.restarted(metrics)) {
      state.restarted(now);
      endpoints.forget(state);
      health.restarted(now, state.health());
    } else if (state.progressed(metrics)) {
      health.sign(now, state.health());
    }
    if (!metrics.equals(EndpointMetrics.UNKNOWN)) {
      health.heard(now, state.health());
    }
    endpoints.scraped(state, begunAt, metrics);
    for (int over = left.over(state, begunAt, metrics); over > 0; over--) {
      Flight oldest = LeftRequests.oldest(state, begunAt);
      if (oldest == null) {
        break;
      }
      presumeOver(now, oldest, state);
    }
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
    Flight flight = requests.add(now, facts, listener);
    long ticket = flight.ticket;
    attempts.budget().arrived();
    decide(now, flight);
    return ticket;
  }

  /**
   * The endpoint failed the request before the first byte of an answer that the client can have
   * seen. Causes another send, to an endpoint not tried yet, while the request's and the pool's
   * bounds allow one; else the answer that came with the failure is passed, or the request is
   * rejected. One that an endpoint may have worked on, since it had it for a second or died with
   * it, is sent again once.
   *
   * @throws RuntimeException if a plugin is broken, as an Error when it threw one; the request has
   *     been rejected then
   */
  public void attemptFailed(long now, long request, Failure failure) {
    Flight flight = requests.get(request);
    if (flight == null || flight.left) {
      return;
    }
    EndpointState endpoint = flight.at;
    if (endpoint != null) {
      attempts.failed(now, flight, endpoint, failure);
    }
    Reason refused = Reason.UPSTREAM_FAILED;
    if (attempts.maySendAgain(now, flight, failure)) {
      refused = sendAgain(now, flight);
    }
    if (refused == null) {
      return;
    }
    if (failure.answered() && endpoint != null) {
      flight.lastByteAt = now;
      flight.answered = true;
      flight.judged = true;
      flight.listener.pass(request);
    } else {
      giveUp(now, flight, refused);
    }
  }

  /**
   * Sends the request to somebody else; returns why not when nobody gets it and its frontend was
   * told nothing yet: then it is still where it was.
   *
   * <p>A prompt that another endpoint computes counts there, and an endpoint that has left is
   * forgotten with its last request. Such a request is taken off the accounts before the choice,
   * and rejected where nobody gets it.
   */
  private @Nullable Reason sendAgain(long now, Flight flight) {
    CompiledConfig active = config;
    EndpointState endpoint = flight.at;
    if (active == null || endpoint == null) {
      return Reason.UPSTREAM_FAILED;
    }
    long request = flight.ticket;
    flight.failed(endpoint);
    bookings.withdraw(flight);
    completion.set(now, flight, endpoint, Outcome.FAILED, Usage.UNKNOWN);
    if (flight.prefillAt != null || endpoints.leaving().contains(endpoint)) {
      bookings.settle(now, flight);
    }
    try {
      Reason refused = send(now, flight, active);
      if (refused != null) {
        attempts.notSentAgain(flight);
        if (flight.at == null) {
          reject(flight, criticalityOf(flight.facts), refused);
          return null;
        }
      }
      return refused;
    } finally {
      // Where somebody got it, the observers have been told that the attempt before is over.
      if (completion.isSet()) {
        if (requests.get(request) == null) {
          tellEnded(observers());
        } else {
          completion.clear();
        }
      }
    }
  }

  /** Rejects a request that was sent. */
  private void giveUp(long now, Flight flight, Reason reason) {
    EndpointState endpoint = flight.at;
    List<Observer> observers = endpoint == null ? List.of() : observers();
    if (endpoint != null) {
      completion.set(now, flight, endpoint, Outcome.FAILED, Usage.UNKNOWN);
      bookings.withdraw(flight);
      bookings.settle(now, flight);
    }
    try {
      reject(flight, criticalityOf(flight.facts), reason);
    } finally {
      tellEnded(observers);
    }
  }

  /**
   * The first byte of the response's body came; of a streamed one that is its first token. Later
   * calls change nothing.
   */
  public void firstByte(long now, long request) {
    Flight flight = requests.get(request);
    if (flight == null || flight.answered || flight.at == null) {
      return;
    }
    flight.answered = true;
    flight.lastByteAt = now;
    attempts.answered(now, flight, flight.at);
    if (flight.firstTokenSeen()) {
      bookings.firstToken(now, flight, flight.at);
    }
  }

  /**
   * More of the response came. Says that the endpoint is alive: to be told now and then while bytes
   * come, not of each.
   */
  public void progress(long now, long request) {
    Flight flight = requests.get(request);
    if (flight != null && flight.at != null) {
      flight.lastByteAt = now;
      health.sign(now, flight.at.health());
    }
  }

  /**
   * Nobody will tell what becomes of the request: the frontend has left it to a proxy after it was
   * sent. It counts where it is until it must be over, by what the endpoint tells of its requests
   * and by an estimate. Of the endpoint's health and speed such a request says nothing. Its
   * listener hears of nothing from here on.
   *
   * @param told of its end, in the listener's place
   */
  public void left(long now, long request, LeftListener told) {
    Flight flight = requests.get(request);
    if (flight != null && flight.at != null) {
      left.add(now, flight, flight.at, told);
    }
  }

  private void presumeOver(long now, Flight flight, EndpointState at) {
    long request = flight.ticket;
    LeftListener told = flight.leftListener;
    List<Observer> observers = observers();
    completion.set(now, flight, at, Outcome.DISCONNECTED, Usage.UNKNOWN);
    // Nothing else could end a trial.
    if (flight.trial) {
      health.answered(now, at.health(), flight.sentAt, true);
    }
    if (flight.prefilledBy != null && flight.prefillTrial) {
      health.answered(now, flight.prefilledBy.health(), flight.sentAt, true);
    }
    bookings.settle(now, flight);
    remove(flight);
    told.presumedOver(request);
    tellEnded(observers);
  }

  private void remove(Flight flight) {
    left.remove(flight);
    requests.remove(flight);
  }

  /**
   * Time has moved on: deadlines pass, probes fall due. To be called some ten times a second,
   * whatever else happens.
   *
   * @throws PluginFailedException if a plugin is broken; all that was due has happened nevertheless
   */
  public void tick(long now) {
    @Nullable Throwable failure = null;
    for (int entry = 0; entry < requests.entries(); entry++) {
      Flight flight = requests.at(entry);
      if (flight != null && flight.at != null) {
        try {
          watch(now, flight, flight.at);
        } catch (RuntimeException | Error e) {
          failure = e;
        }
      }
    }
    health.tick(now);
    endpoints.assume();
    EndpointState[] all = endpoints.eligible();
    for (int i = 0; i < all.length; i++) {
      bookings.presumeFirstTokens(now, all[i]);
      if (all[i].risk() != all[i].health().risk()) {
        all[i].publish(); // failures are forgotten with time
      }
      health.check(now, all[i].health(), all[i].expectedPrefill());
    }
    // The last request of one that left may be through with its prompt: then that one is gone.
    for (EndpointState left : List.copyOf(endpoints.leaving())) {
      bookings.presumeFirstTokens(now, left);
    }
    if (failure != null) {
      throw new PluginFailedException(failure);
    }
  }

  /** Ends the request's attempt, or the request, where its time is up. */
  private void watch(long now, Flight flight, EndpointState at) {
    if (flight.left) {
      if (LeftRequests.isOver(now, flight, at)) {
        presumeOver(now, flight, at);
      }
    } else if (AttemptRules.isOver(now, flight)) {
      giveUp(now, flight, Reason.TOTAL_TIMEOUT);
    } else if (AttemptRules.isSilent(now, flight)) {
      if (AttemptRules.isOverdueSilence(now, flight)) {
        attempts.failed(now, flight, at, Failure.BROKEN_OFF);
      }
      giveUp(now, flight, Reason.SILENCE_TIMEOUT);
    } else if (!flight.answered && attempts.isLate(now, flight, at)) {
      // What was told of this attempt already, when nobody else was found for it, is not told
      // again.
      if (!flight.nowhereElse && AttemptRules.isOverdue(now, flight, at)) {
        attempts.failed(now, flight, at, Failure.FIRST_BYTE_LATE);
      }
      boolean again =
          candidates.hasOtherInUse(flight)
              && attempts.maySendAgain(now, flight, Failure.FIRST_BYTE_LATE);
      boolean sent = again && sendAgain(now, flight) == null;
      if (!sent && attempts.isLate(now, flight, at)) {
        giveUp(now, flight, Reason.FIRST_BYTE_TIMEOUT);
      }
    }
  }

  /**
   * A scrape of the endpoint failed. One of an endpoint that has left since is ignored.
   *
   * @param begunAt when the scrape was begun, by the same clock as {@code now}
   */
  public void unreachable(long now, EndpointSpec endpoint, long begunAt, Failure failure) {
    EndpointState state = endpoints.asked(endpoint, begunAt);
    if (state != null) {
      health.unreachable(now, state.health(), failure);
    }
  }

  /**
   * A probe was answered with anything below 500. Answers that come too late, or twice, change
   * nothing.
   *
   * @param probe {@link Probe#id}
   */
  public void probed(long now, long probe) {
    health.probed(now, probe);
  }

  /** A probe failed. */
  public void probeFailed(long now, long probe, Failure failure) {
    health.probeFailed(now, probe, failure);
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
    PromptSize prompt = flight.facts.prompt();
    tokens.learn(flight.target, prompt.textBytes(), prompt.mediaTokens(), usage.promptTokens());
    EndpointState endpoint = flight.at;
    List<Observer> observers = endpoint == null ? List.of() : observers();
    if (endpoint != null && !observers.isEmpty()) {
      completion.set(now, flight, endpoint, outcome, usage);
    }
    if (endpoint != null) {
      attempts.judge(now, flight, endpoint, outcome);
      if (flight.firstTokenSeen()
          || (flight.answered && !flight.judged && outcome == Outcome.COMPLETED)) {
        // An engine frees a request's blocks when it ends: that is when they were last used.
        bookings.confirm(flight, endpoint);
      } else {
        bookings.withdraw(flight);
      }
    }
    bookings.settle(now, flight);
    remove(flight);
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

  /** The same of those who were told that it was sent, when the next one threw that. */
  private void tellEndedAfter(Throwable thrown, List<Observer> observers) {
    try {
      tellEnded(observers);
    } catch (RuntimeException | Error e) {
      thrown.addSuppressed(e);
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

  /** Sends a request that has come or rejects it: exactly one effect, also when a plugin throws. */
  private void decide(long now, Flight flight) {
    Reason refused = config == null ? Reason.NOT_CONFIGURED : send(now, flight, config);
    if (refused != null) {
      reject(flight, criticalityOf(flight.facts), refused);
    }
  }

  /**
   * Sends the request, away from where it was if it was anywhere; returns why not when nobody gets
   * it. The listener is called last, when the accounts are straight; when a plugin throws, too: the
   * request is rejected then.
   */
  private @Nullable Reason send(long now, Flight flight, CompiledConfig active) {
    told = 0;
    CompiledModel model = active.model(flight.facts.model());
    Criticality criticality = active.criticality(model, flight.facts.headers());
    Route route;
    try {
      Reason refused = choose(now, flight, model, criticality, active);
      if (refused != null) {
        return refused;
      }
      bookings.settle(now, flight);
      if (completion.isSet()) {
        tellEnded(active.observers());
      }
      route = book(now, flight, model, criticality, active);
    } catch (RuntimeException | Error e) {
      bookings.withdraw(flight);
      EndpointState at = flight.at;
      if (at != null && told > 0) {
        completion.set(now, flight, at, Outcome.FAILED, Usage.UNKNOWN);
      }
      bookings.settle(now, flight);
      reject(flight, criticality, Reason.PLUGIN_FAILED);
      if (told > 0) {
        tellEndedAfter(e, active.observers().subList(0, told));
      }
      throw e;
    } finally {
      current.done();
      headers.clear();
    }
    flight.listener.send(flight.ticket, route);
    return null;
  }

  /** Leaves the choice in the config's scheduler; returns why not when nobody gets it. */
  private @Nullable Reason choose(
      long now,
      Flight flight,
      CompiledModel model,
      Criticality criticality,
      CompiledConfig active) {
    RequestFacts facts = flight.facts;
    boolean retry = flight.attempts > 0;
    current.start(now, facts, criticality, endpoints);
    current.target(model.target(current));
    boolean sheddable = criticality == Criticality.SHEDDABLE;
    SaturationDetector saturation = sheddable ? active.saturation() : null;
    CandidateChoice.Use use = candidates.narrowest(now);
    boolean some = false;
    while (true) {
      int full = candidates.narrow(now, flight, saturation, use);
      if (current.size() > 0) {
        some = true;
        if (active.scheduler().schedule(current, current)) {
          return null;
        }
      }
      // Where all in use are full, what is out is no way out.
      boolean widest =
          use == CandidateChoice.Use.ANY || (use == CandidateChoice.Use.IN_USE && full > 0);
      if (widest) {
        return full > 0
            ? Reason.SATURATED
            : nobody(retry, some ? Reason.NO_SUITABLE_ENDPOINT : Reason.NO_READY_ENDPOINTS);
      }
      use = use.wider();
    }
  }

  /** To the client of a retried request, what failed tells more than why there is no third one. */
  private static Reason nobody(boolean retry, Reason otherwise) {
    return retry ? Reason.UPSTREAM_FAILED : otherwise;
  }

  /** Books the request on what the scheduler chose. */
  private Route book(
      long now,
      Flight flight,
      CompiledModel model,
      Criticality criticality,
      CompiledConfig active) {
    Scheduler scheduler = active.scheduler();
    int primary = scheduler.primary();
    int prefill = scheduler.prefill();
    EndpointState endpoint = current.endpoint(primary);
    EndpointState prefiller = prefill == Scheduler.NONE ? endpoint : current.endpoint(prefill);
    int matched = current.matchedBlocks(primary);

    flight.target = current.targetModel();
    flight.salt = current.salt();
    flight.tokens = current.promptTokens();
    flight.critical = criticality == Criticality.CRITICAL;
    flight.sheddable = criticality == Criticality.SHEDDABLE;
    flight.blocks = current.cacheableBlocks();
    flight.matched = matched;
    int matchedThere = prefiller == endpoint ? matched : current.matchedBlocks(prefill);
    flight.matchedAtPrefill = matchedThere;
    flight.prefilledBy = prefiller == endpoint ? null : prefiller;
    flight.cached = current.cachedTokensOf(matchedThere);
    flight.sentAt = now;
    flight.attempts++;
    flight.at = endpoint;
    endpoint.requests().add(flight);
    flight.phase = Phase.PREFILLING;
    flight.judged = false;
    current.learn(endpoint);
    endpoint.sent(now, flight, matched);
    if (prefiller != endpoint) {
      current.learn(prefiller);
      prefiller.sent(now, flight, matchedThere);
      flight.prefillAt = prefiller;
      flight.prefillTrial = prefiller.health().sent(now, flight.target);
    }
    prefiller.prefills().add(now, flight);
    prefiller.publish();
    flight.trial = endpoint.health().sent(now, flight.target);
    AttemptRules.bound(
        now, flight, prefiller.expectedPrefill(), model.timeouts().or(active.poolTimeouts()));

    scheduler.handOvers(current, headers);
    for (Observer observer : active.observers()) {
      observer.dispatched(current, endpoint, headers);
      told++;
    }
    return new Route(
        flight.target,
        criticality,
        endpoint.name(),
        endpoint.address(),
        endpoint.port(),
        matched,
        flight.tokens,
        flight.cached,
        flight.attempts,
        scheduler.fallbacks(current),
        headers.request(),
        headers.response());
  }

  private void reject(Flight flight, Criticality criticality, Reason reason) {
    long ticket = flight.ticket;
    RequestListener listener = flight.listener;
    remove(flight);
    listener.reject(ticket, new Rejection(reason, criticality, reason.message()));
  }

  private Criticality criticalityOf(RequestFacts facts) {
    return config == null
        ? Criticality.STANDARD
        : config.criticality(config.model(facts.model()), facts.headers());
  }
}
