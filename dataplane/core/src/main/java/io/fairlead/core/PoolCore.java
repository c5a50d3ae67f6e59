package io.fairlead.core;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.CompiledModel;
import io.fairlead.core.scheduling.Scheduler;
import io.fairlead.crds.config.Criticality;
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
  private final PrefixIndex prefixes;
  private final EndpointSet endpoints;
  private final RequestTable requests;
  private final CurrentRequest current;
  private @Nullable CompiledConfig config;

  /** Of the request being decided. */
  private Criticality criticality = Criticality.STANDARD;

  private int chosen;

  /** A pool without config and endpoints, with the default limits. */
  public PoolCore() {
    this(PoolLimits.DEFAULT);
  }

  /** A pool without config and endpoints. */
  public PoolCore(PoolLimits limits) {
    this.limits = limits;
    this.prefixes = new PrefixIndex(limits.unknownPrefixBlocks());
    this.endpoints = new EndpointSet(prefixes, limits.maxPrefixBlocks());
    this.requests = new RequestTable(limits.retries());
    this.current = new CurrentRequest(prefixes);
  }

  /** Applies a config at once: every later event sees it, no earlier one does. */
  public void configure(long now, CompiledConfig config) {
    this.config = config;
  }

  /**
   * Sets which endpoints may get requests. One that is missing gets no new requests; those in
   * flight on it go on and stay counted. One with a new incarnation, address or port starts afresh.
   *
   * @throws IllegalArgumentException if a name is there twice; nothing is changed then
   */
  public void endpoints(long now, List<EndpointSpec> endpoints) {
    this.endpoints.replace(endpoints);
  }

  /** Takes in a scrape. An unknown endpoint is ignored: it left while the scrape was under way. */
  public void scraped(long now, String endpoint, EndpointMetrics metrics) {
    endpoints.scraped(endpoint, metrics);
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
    int slot = requests.add(facts, listener);
    long ticket = requests.ticket(slot);
    decide(slot);
    return ticket;
  }

  /**
   * The endpoint did not take the request: it broke before the first response byte. Causes another
   * send, to an endpoint not tried yet, or a rejection. After a first token there is no other send.
   *
   * @throws RuntimeException or an {@code Error}, whatever a broken plugin throws; the request has
   *     been rejected then
   */
  public void attemptFailed(long now, long request) {
    int slot = requests.slot(request);
    if (slot == RequestTable.NONE) {
      return;
    }
    boolean last = requests.firstTokenSeen(slot) || requests.attempts(slot) > limits.retries();
    settle(slot);
    requests.failed(slot);
    if (last) {
      criticality = criticalityOf(requests.facts(slot));
      reject(slot, Reason.UPSTREAM_FAILED);
    } else {
      decide(slot);
    }
  }

  /** The first token (first body byte) of the response came. Later calls change nothing. */
  public void firstToken(long now, long request) {
    int slot = requests.slot(request);
    if (slot == RequestTable.NONE || requests.firstTokenSeen(slot)) {
      return;
    }
    EndpointState endpoint = requests.sentTo(slot);
    if (endpoint != null) {
      requests.firstToken(slot);
      endpoint.firstToken();
    }
  }

  /** The request is over; its capacity is free again. */
  public void ended(long now, long request, Outcome outcome, Usage usage) {
    int slot = requests.slot(request);
    if (slot != RequestTable.NONE) {
      settle(slot);
      requests.remove(slot);
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
  private void decide(int slot) {
    @Nullable Reason refused;
    @Nullable Route route = null;
    try {
      refused = choose(slot);
      if (refused == null) {
        route = place(slot, chosen);
      }
    } catch (RuntimeException | Error e) {
      settle(slot);
      reject(slot, Reason.PLUGIN_FAILED);
      throw e;
    } finally {
      current.done();
    }
    if (route != null) {
      requests.listener(slot).send(requests.ticket(slot), route);
    } else if (refused != null) {
      reject(slot, refused);
    }
  }

  /** Sets {@link #chosen} and {@link #criticality}; returns why not when nobody gets it. */
  private @Nullable Reason choose(int slot) {
    criticality = Criticality.STANDARD;
    CompiledConfig active = config;
    if (active == null) {
      return Reason.NOT_CONFIGURED;
    }
    RequestFacts facts = requests.facts(slot);
    CompiledModel model = active.model(facts.model());
    criticality = model.criticality();
    boolean retry = requests.attempts(slot) > 0;
    EndpointState[] eligible = endpoints.eligible();
    current.start(facts, eligible.length);
    current.target(model.target(current));
    int full = 0;
    for (EndpointState endpoint : eligible) {
      if (retry && requests.hasTried(slot, endpoint)) {
        continue;
      }
      if (criticality == Criticality.SHEDDABLE
          && active.saturation().saturation(endpoint) >= FULL) {
        full++;
      } else {
        current.candidate(endpoint);
      }
    }
    if (current.size() == 0) {
      return full > 0 ? Reason.SATURATED : nobodyLeft(retry, Reason.NO_READY_ENDPOINTS);
    }
    chosen = active.scheduler().schedule(current, current);
    return chosen == Scheduler.NONE ? nobodyLeft(retry, Reason.NO_SUITABLE_ENDPOINT) : null;
  }

  /** To the client of a retried request, what failed tells more than why there is no third one. */
  private static Reason nobodyLeft(boolean retry, Reason otherwise) {
    return retry ? Reason.UPSTREAM_FAILED : otherwise;
  }

  /** Books the request on the candidate. */
  private Route place(int slot, int candidate) {
    EndpointState endpoint = current.endpoint(candidate);
    RequestFacts facts = requests.facts(slot);
    int matched = current.matchedBlocksOf(candidate);
    current.learn(endpoint);
    endpoint.sent(tokens(facts), matched, facts.blocks().length);
    int attempt = requests.sent(slot, endpoint);
    return new Route(
        current.targetModel(),
        criticality,
        endpoint.name(),
        endpoint.address(),
        endpoint.port(),
        matched,
        attempt);
  }

  private void reject(int slot, Reason reason) {
    long ticket = requests.ticket(slot);
    RequestListener listener = requests.listener(slot);
    requests.remove(slot);
    listener.reject(ticket, new Rejection(reason, criticality, reason.message()));
  }

  /** Takes the current attempt off its endpoint's account. */
  private void settle(int slot) {
    EndpointState endpoint = requests.sentTo(slot);
    if (endpoint != null) {
      endpoint.ended(tokens(requests.facts(slot)), requests.firstTokenSeen(slot));
      endpoints.ended(endpoint);
    }
  }

  private Criticality criticalityOf(RequestFacts facts) {
    return config == null ? Criticality.STANDARD : config.model(facts.model()).criticality();
  }

  private static int tokens(RequestFacts facts) {
    return Math.max(0, facts.promptTokens());
  }
}
