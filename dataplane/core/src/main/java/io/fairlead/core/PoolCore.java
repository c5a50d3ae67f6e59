package io.fairlead.core;

import io.fairlead.core.Failure.Work;
import io.fairlead.core.Flight.Phase;
import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.health.Deadlines;
import io.fairlead.core.health.PoolHealth;
import io.fairlead.core.health.RetryBudget;
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

  /** Saturation from which on an endpoint gets no sheddable requests. */
  private static final double FULL = 1;

  private static final long SECOND = 1_000_000_000;

  /** A request that a server had for so long has been worked on. */
  private static final long LONG_AT_A_SERVER = SECOND;

  /** A server that is out for saying nothing so long does not have the request any more. */
  private static final long SILENT_FOR_DEAD = 2 * SECOND;

  /** The same where the request can't be sent again: it costs the client its answer. */
  private static final long SILENT_FOR_GOOD = 10 * SECOND;

  private final PoolLimits limits;
  private final PoolHealth health;
  private final RetryBudget budget = new RetryBudget();
  private final PrefixIndex prefixes;
  private final EndpointSet endpoints;
  private final RequestTable requests;
  private final CurrentRequest current;
  private final TokenEstimate tokens = new TokenEstimate();
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
    this.health = new PoolHealth(listener);
    this.prefixes = new PrefixIndex(limits.unknownPrefixBlocks(), limits.maxPrefixBytes());
    this.endpoints = new EndpointSet(prefixes, limits, tokens, health);
    this.requests = new RequestTable(limits.retries());
    this.current = new CurrentRequest(prefixes, tokens);
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
    budget.share(config.retryBudget());
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
      state.restarted();
      endpoints.forget(state);
      health.restarted(now, state.health());
    } else if (state.progressed(metrics)) {
      health.sign(now, state.health());
    }
    if (!metrics.equals(EndpointMetrics.UNKNOWN)) {
      health.heard(now, state.health());
    }
    endpoints.scraped(state, begunAt, metrics);
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
    budget.arrived();
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
    if (flight == null) {
      return;
    }
    EndpointState endpoint = flight.at;
    if (endpoint != null) {
      health.failed(now, endpoint.health(), failure, flight.sentAt, flight.trial);
    }
    if (maySendAgain(now, flight, failure)) {
      sendAgain(now, flight);
    } else if (failure.answered() && endpoint != null) {
      flight.lastByteAt = now;
      flight.answered = true;
      flight.judged = true;
      flight.listener.pass(request);
    } else {
      giveUp(now, flight, Reason.UPSTREAM_FAILED);
    }
  }

  /** Whether its bounds and those of the pool allow another attempt; counts it if so. */
  private boolean maySendAgain(long now, Flight flight, Failure failure) {
    boolean worked = failure.work() != Work.NONE || now - flight.sentAt >= LONG_AT_A_SERVER;
    if (flight.answered
        || !flight.facts.delivery().resendable()
        || flight.attempts > limits.retries()
        || (worked && flight.workedOn)
        || !budget.take(now)) {
      return false;
    }
    flight.workedOn |= worked;
    return true;
  }

  private void sendAgain(long now, Flight flight) {
    long request = flight.ticket;
    EndpointState endpoint = flight.at;
    if (endpoint != null) {
      flight.failed(endpoint);
      withdraw(flight);
      completion.set(now, flight, endpoint, Outcome.FAILED, Usage.UNKNOWN);
      settle(now, flight);
    }
    try {
      decide(now, flight);
    } finally {
      if (endpoint != null && requests.get(request) == null) {
        tellEnded(observers());
      } else {
        completion.clear();
      }
    }
  }

  /** Rejects a request that was sent. */
  private void giveUp(long now, Flight flight, Reason reason) {
    EndpointState endpoint = flight.at;
    List<Observer> observers = endpoint == null ? List.of() : observers();
    if (endpoint != null) {
      completion.set(now, flight, endpoint, Outcome.FAILED, Usage.UNKNOWN);
      withdraw(flight);
      settle(now, flight);
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
    health.answered(now, flight.at.health(), flight.sentAt, flight.trial);
    if (!flight.firstTokenSeen()) {
      return;
    }
    flight.firstTokenAt = now;
    confirmAll(flight);
    if (flight.phase == Phase.PREFILLING) {
      prefilled(now, flight);
      flight.at.firstToken(now, flight);
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
   * Time has moved on: deadlines pass, probes fall due. To be called some ten times a second,
   * whatever else happens.
   *
   * @throws PluginFailedException if a plugin is broken; all that was due has happened nevertheless
   */
  public void tick(long now) {
    @Nullable Throwable failure = null;
    for (int place = 0; place < requests.places(); place++) {
      Flight flight = requests.at(place);
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
      presumeFirstTokens(now, all[i]);
      if (all[i].failing() != all[i].health().failing()) {
        all[i].publish(); // failures are forgotten with time
      }
      health.check(now, all[i].health(), all[i].expectedPrefill());
    }
    // The last request of one that left may be through with its prompt: then that one is gone.
    for (EndpointState left : List.copyOf(endpoints.leaving())) {
      presumeFirstTokens(now, left);
    }
    if (failure != null) {
      throw new PluginFailedException(failure);
    }
  }

  /** Ends the request's attempt, or the request, where its time is up. */
  private void watch(long now, Flight flight, EndpointState at) {
    if (now - flight.over >= 0 && flight.over != Deadlines.NEVER) {
      giveUp(now, flight, Reason.TOTAL_TIMEOUT);
    } else if (flight.answered) {
      if (flight.mostSilence != Deadlines.NEVER && now - flight.lastByteAt >= flight.mostSilence) {
        health.failed(now, at.health(), Failure.BROKEN_OFF, flight.sentAt, flight.trial);
        giveUp(now, flight, Reason.SILENCE_TIMEOUT);
      }
    } else if (isLate(now, flight, at)) {
      health.failed(now, at.health(), Failure.FIRST_BYTE_LATE, flight.sentAt, flight.trial);
      if (hasAlternative(flight) && maySendAgain(now, flight, Failure.FIRST_BYTE_LATE)) {
        sendAgain(now, flight);
      } else {
        giveUp(now, flight, Reason.FIRST_BYTE_TIMEOUT);
      }
    }
  }

  /**
   * Whether its first byte is no longer to be waited for: the time is up, or the endpoint has said
   * nothing to anybody for so long that it is taken for dead.
   */
  private boolean isLate(long now, Flight flight, EndpointState at) {
    if (flight.firstByteBy != Deadlines.NEVER && now - flight.firstByteBy >= 0) {
      return true;
    }
    boolean again =
        flight.facts.delivery().resendable()
            && !flight.workedOn
            && flight.attempts <= limits.retries();
    // A server that never served may be compiling what its first request needs.
    return (again && hasAlternative(flight))
        ? at.health().silentSince(now - SILENT_FOR_DEAD)
        : at.health().served() && at.health().silentSince(now - SILENT_FOR_GOOD);
  }

  /** Whether there is another endpoint in use that has not failed the request. */
  private boolean hasAlternative(Flight flight) {
    for (EndpointState endpoint : endpoints.eligible()) {
      if (endpoint.health().state() == HealthState.IN_USE
          && endpoint != flight.at
          && !flight.hasTried(endpoint)
          && allowed(flight.facts, endpoint)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Of answers in one piece nothing tells when their prompts are computed: they leave the line when
   * those before them are through and their own may be. Whoever counts a queue would else count
   * each for all of its life.
   */
  private void presumeFirstTokens(long now, EndpointState endpoint) {
    PrefillQueue line = endpoint.prefills();
    for (Flight head = line.head();
        head != null && !head.facts.delivery().streamed();
        head = line.head()) {
      long due =
          Math.max(line.headSince(), head.sentAt) + endpoint.pace().expected(head.uncached());
      if (now - due < 0) {
        return;
      }
      EndpointState decoding = head.at;
      prefilled(due, head);
      if (decoding != null) {
        decoding.decodes(now, head);
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

  /** The prompt was computed, by whoever does that: they hold it now. */
  private void confirmAll(Flight flight) {
    if (flight.at != null) {
      confirm(flight, flight.at);
    }
    if (flight.prefillAt != null) {
      confirm(flight, flight.prefillAt);
    }
  }

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
    PromptSize prompt = flight.facts.prompt();
    tokens.learn(flight.target, prompt.textBytes(), prompt.mediaTokens(), usage.promptTokens());
    EndpointState endpoint = flight.at;
    List<Observer> observers = endpoint == null ? List.of() : observers();
    if (endpoint != null && !observers.isEmpty()) {
      completion.set(now, flight, endpoint, outcome, usage);
    }
    if (endpoint != null) {
      judge(now, flight, endpoint, outcome);
      if (flight.firstTokenSeen() || (flight.answered && outcome == Outcome.COMPLETED)) {
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

  /** Whether the client left says nothing of the endpoint. */
  private void judge(long now, Flight flight, EndpointState endpoint, Outcome outcome) {
    if (flight.judged) {
      return;
    }
    switch (outcome) {
      case COMPLETED -> {
        if (!flight.answered) {
          health.answered(now, endpoint.health(), flight.sentAt, flight.trial);
        }
      }
      case FAILED -> {
        Failure failure = flight.answered ? Failure.BROKEN_OFF : Failure.ERROR;
        health.failed(now, endpoint.health(), failure, flight.sentAt, flight.trial);
      }
      case DISCONNECTED -> {}
    }
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
    current.start(now, facts, criticality, endpoints);
    current.target(model.target(current));
    boolean sheddable = criticality == Criticality.SHEDDABLE;
    int full = 0;
    if (retry || sheddable || facts.subset() != null || !health.whole(now)) {
      full = narrow(now, flight, sheddable ? active.saturation() : null);
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

  /**
   * Leaves as candidates those endpoints that the request may go to: of those in use the ones that
   * it draws; where that is none, all in use; and where none is, whoever has not failed it yet.
   *
   * <p>Where all in use are full, what is out is no way out.
   *
   * @param saturation says which are full, where those don't count
   * @return how many do not count for being full, of those looked at last
   */
  private int narrow(long now, Flight flight, @Nullable SaturationDetector saturation) {
    int full = 0;
    if (!health.whole(now)) {
      full = narrow(flight, saturation, Use.DRAWN);
      if (current.size() == 0) {
        full = narrow(flight, saturation, Use.IN_USE);
      }
      if (current.size() > 0 || full > 0) {
        return full;
      }
    }
    return narrow(flight, saturation, Use.ANY);
  }

  /** Who counts as usable. */
  private enum Use {
    DRAWN,
    IN_USE,
    ANY
  }

  private int narrow(Flight flight, @Nullable SaturationDetector saturation, Use use) {
    EndpointState[] eligible = endpoints.eligible();
    boolean retry = flight.attempts > 0;
    int full = 0;
    int count = use == Use.ANY ? eligible.length : health.usableCount();
    current.none();
    for (int i = 0; i < count; i++) {
      int place = use == Use.ANY ? i : health.usable(i);
      EndpointState endpoint = eligible[place];
      if ((retry && flight.hasTried(endpoint))
          || !allowed(flight.facts, endpoint)
          || (use != Use.ANY && health.busyOnTrial(place))
          || (use == Use.DRAWN && health.drawnOut(place, lot(flight, endpoint)))) {
        continue;
      }
      if (saturation != null && saturation.saturation(endpoint) >= FULL) {
        full++;
      } else {
        current.candidate(place);
      }
    }
    return full;
  }

  /** Random bits of a request's attempt and an endpoint: the finalizer of SplitMix64. */
  private static long lot(Flight flight, EndpointState endpoint) {
    long z = flight.facts.seed() ^ (endpoint.identity() + flight.attempts);
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
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
    flight.tokens = current.promptTokens();
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
    flight.phase = Phase.PREFILLING;
    flight.judged = false;
    current.learn(endpoint);
    endpoint.sent(now, flight, matched);
    if (prefiller != endpoint) {
      current.learn(prefiller);
      prefiller.sent(now, flight, matchedThere);
      flight.prefillAt = prefiller;
    }
    prefiller.prefills().add(now, flight);
    prefiller.publish();
    flight.trial = endpoint.health().sent(now, flight.target);
    bound(now, flight, prefiller.expectedPrefill(), active);

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
        flight.tokens,
        flight.cached,
        flight.attempts,
        scheduler.fallbacks(current),
        headers.request(),
        headers.response());
  }

  /** Sets until when this attempt may take. */
  private static void bound(long now, Flight flight, long expected, CompiledConfig active) {
    RequestFacts facts = flight.facts;
    Timeouts set =
        facts.timeouts().or(active.model(facts.model()).timeouts()).or(active.poolTimeouts());
    boolean streamed = facts.delivery().streamed();
    flight.firstByteBy = Deadlines.at(now, Deadlines.firstByte(set, expected, streamed));
    flight.mostSilence = Deadlines.silence(set);
    flight.over = Deadlines.at(flight.arrivedAt, Deadlines.total(set));
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
      boolean decoded = flight.phase == Phase.DECODING;
      if (!decoded) {
        prefilled(now, flight);
      }
      endpoint.health().over(flight.trial);
      endpoint.ended(now, flight, decoded);
      flight.at = null;
      flight.phase = Phase.DECIDING;
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
    if (flight.at == null || flight.firstTokenSeen()) {
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
