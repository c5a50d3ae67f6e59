package io.fairlead.core;

import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.external.Advice;
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.core.external.RequestBrief;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.handover.News;
import io.fairlead.core.health.PoolHealth;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.ExactIndex;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.receipt.Provenance;
import io.fairlead.core.receipt.Receipt;
import io.fairlead.core.receipt.ReceiptLog;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.CompiledModel;
import io.fairlead.core.view.Teachable;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.plugin.Observer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The decisions and accounts of one pool: a state machine that takes events and answers with
 * effects. It draws a request's target, lets it go, wait or be refused, chooses its endpoint, and
 * counts it there until it is over.
 *
 * <p>Every event carries the time, in nanoseconds of any monotonic clock. Events on a request that
 * has ended, or never was, change nothing: tickets are never reused. Not thread-safe: owned by one
 * loop.
 */
public final class PoolCore {

  /** So often, in nanoseconds, it is to be told that an answer is still coming. */
  public static final long PROGRESS_NANOS = 250_000_000;

  private final PoolHealth health;
  private final Bookings bookings;
  private final AttemptRules rules;
  private final ServedTargets targets;
  private final TokenEstimate tokens;
  private final PrefixIndex prefixes;
  private final EndpointSet endpoints;
  private final RequestTable requests;
  private final LeftRequests left;
  private final CurrentRequest current;
  private final Contexts contexts;
  private final OtherPickers others;
  private final Admission admission;
  private final ActiveConfig config = new ActiveConfig();
  private final RequestEnds ends;
  private final Dispatch dispatch;
  private final FailedAttempts failures;
  private final DeadlineWatch deadlines;
  private final ReceiptLog receipts;
  private final DecisionNotes notes;
  private final @Nullable RealCaches real;

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
    this(limits, listener, false);
  }

  /**
   * A pool without config and endpoints that is asked about requests which another one has let in:
   * it refuses none for load.
   */
  public static PoolCore ofAdmitted(PoolLimits limits) {
    return new PoolCore(limits, PoolListener.NONE, true);
  }

  private PoolCore(PoolLimits limits, PoolListener listener, boolean admitted) {
    this.tokens = new TokenEstimate();
    this.receipts = new ReceiptLog(limits.maxReceiptBytes());
    this.health = new PoolHealth(listener);
    this.prefixes = prefixIndex(limits);
    ExactIndex exact = new ExactIndex(limits.maxPrefixBytes() / 2);
    List<PrefixIndex> indexes =
        admitted ? List.of(prefixes, prefixIndex(limits)) : List.of(prefixes);
    this.endpoints = new EndpointSet(indexes, exact, limits, tokens, health);
    this.requests = new RequestTable(limits.retries());
    this.left = new LeftRequests();
    this.current = new CurrentRequest(prefixes, exact, tokens);
    this.real = admitted ? new RealCaches(indexes.getLast(), endpoints, current) : null;
    this.bookings = new Bookings(prefixes, exact, endpoints);
    this.contexts = new Contexts();
    this.others = new OtherPickers(endpoints, contexts);
    CandidateChoice candidates = new CandidateChoice(endpoints, health, current, contexts);
    this.targets = new ServedTargets(endpoints);
    this.rules = new AttemptRules(limits, health, candidates, targets);
    Observers observers = new Observers(config);
    this.admission =
        new Admission(requests, endpoints, candidates, tokens, limits.maxWaitingBytes(), admitted);
    this.ends =
        new RequestEnds(
            requests, left, bookings, contexts, observers, config, rules, health, tokens,
            admission);
    this.notes = new DecisionNotes(receipts, candidates, current, endpoints);
    this.dispatch =
        new Dispatch(
            config,
            endpoints,
            health,
            candidates,
            current,
            contexts,
            bookings,
            observers,
            ends,
            admission,
            new InFlightEviction(requests, endpoints, admission, ends),
            notes);
    this.failures =
        new FailedAttempts(config, endpoints, rules, bookings, observers, dispatch, ends);
    this.deadlines = new DeadlineWatch(requests, candidates, rules, failures, ends);
  }

  private static PrefixIndex prefixIndex(PoolLimits limits) {
    return new PrefixIndex(limits.unknownPrefixBlocks(), limits.maxPrefixBytes());
  }

  /**
   * What the choices of who has let the requests in leave in caches.
   *
   * @throws IllegalStateException if this core lets them in itself, see {@link #ofAdmitted}
   */
  public RealCaches real() {
    if (real == null) {
      throw new IllegalStateException("this core's own choices are the real ones");
    }
    return real;
  }

  /** Applies a config at once: every later event sees it, no earlier one does. */
  public void configure(long now, CompiledConfig config) {
    var _ = configure(now, config, List.of());
  }

  /**
   * The same, where something is known of plugins that come into force: one that was not in force
   * before begins with the first that is {@linkplain Learned#isOf of its kind}.
   *
   * @return whether one has begun so
   */
  public boolean configure(long now, CompiledConfig config, List<Learned> learned) {
    CompiledConfig former = this.config.get();
    List<Observer> before = this.config.observers();
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
    boolean taught = teach(former, config, learned);
    this.config.apply(config);
    targets.configure(config.targets());
    rules.budget().share(config.retryBudget());
    receipts.configure(config.receipts());
    current.maxBlocks(config.prefix().maxBlocks());
    endpoints.prefixSettings(config.prefix());
    admission.configure(now, config);
    dispatch.sendWaiting(now);
    return taught;
  }

  private boolean teach(
      @Nullable CompiledConfig former, CompiledConfig config, List<Learned> learned) {
    boolean taught = false;
    for (Map.Entry<Teachable, PluginConfig> entry : config.teachables().entrySet()) {
      boolean there = former != null && former.teachables().containsKey(entry.getKey());
      for (int i = 0; i < learned.size() && !there; i++) {
        if (learned.get(i).isOf(entry.getValue())) {
          teach(entry.getKey(), learned.get(i));
          taught = true;
          break;
        }
      }
    }
    return taught;
  }

  private void teach(Teachable plugin, Learned learned) {
    learned.general().forEach(plugin::learn);
    for (Learned.OfEndpoint one : learned.endpoints()) {
      EndpointState here = endpoints.named(one.endpoint().name());
      if (here != null && here.isSame(one.endpoint())) {
        plugin.learn(here, learned.at(), one.numbers());
      }
    }
  }

  /** What the plugins in force have learned that can tell it. */
  public List<Learned> learned(long now) {
    CompiledConfig active = config.get();
    List<Learned> all = new ArrayList<>();
    if (active != null) {
      active.teachables().forEach((plugin, what) -> all.add(learned(now, plugin, what)));
    }
    return all;
  }

  private Learned learned(long now, Teachable plugin, PluginConfig what) {
    Map<String, double[]> general = new HashMap<>();
    plugin.tell(general::put);
    List<Learned.OfEndpoint> each = new ArrayList<>();
    for (EndpointState endpoint : endpoints.eligible()) {
      double[] told = plugin.tell(endpoint, now);
      if (told != null) {
        each.add(new Learned.OfEndpoint(endpoint.spec(), told));
      }
    }
    return new Learned(what, now, general, each);
  }

  /**
   * Sets which endpoints may get requests. One that is missing gets no new requests; those in
   * flight on it go on and stay counted. One with a new incarnation, address or port starts afresh;
   * one that comes back unchanged goes on, but the load that it told of is unknown again.
   *
   * @throws IllegalArgumentException if a name is there twice; nothing is changed then
   * @throws PluginFailedException if a plugin is broken; the endpoints are in force nevertheless
   */
  public void endpoints(long now, List<EndpointSpec> endpoints) {
    List<EndpointState> newcomers = this.endpoints.replace(now, endpoints);
    admission.endpoints(now);
    CompiledConfig active = config.get();
    try {
      if (active != null) {
        tell(active, newcomers);
      }
    } finally {
      dispatch.sendWaiting(now);
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
      throw PluginFailedException.of(failure);
    }
  }

  /** Where config and endpoints are from that come into force from now on, for receipts. */
  public void origin(Provenance origin) {
    notes.origin(origin);
  }

  /**
   * How many pickers share the pool from now on, this one counted; 1 until anything is told.
   * Plugins see it from the next decision on.
   *
   * @throws IllegalArgumentException if it is below 1
   */
  public void replicas(int count) {
    current.replicas(count);
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
      state.restarted(now, metrics);
      endpoints.forget(state);
      health.restarted(now, state.health());
    } else if (state.progressed(metrics)) {
      health.works(now, state.health(), state.progressToldAt());
    }
    health.countsTokens(state.health(), !Double.isNaN(metrics.progress()));
    if (!metrics.equals(EndpointMetrics.UNKNOWN)) {
      health.heard(now, state.health());
    }
    EndpointMetrics believed = state.believed(begunAt, metrics);
    endpoints.scraped(now, state, begunAt, believed);
    for (int over = left.over(state, begunAt, believed); over > 0; ) {
      Flight oldest = LeftRequests.oldest(state, begunAt);
      // A request is over with the last of its sequences.
      if (oldest == null || oldest.attempt.answers > over) {
        break;
      }
      over -= oldest.attempt.answers;
      ends.presumeOver(now, oldest, state);
    }
    others.scraped(now, state, begunAt, believed);
    dispatch.sendWaiting(now);
  }

  /**
   * An endpoint's engine has told what has become of its cache. One that has left since is ignored.
   *
   * @param grain tokens between two keys of a prompt, see {@link
   *     io.fairlead.core.prefix.PromptTokens#grain}
   * @return false if there is no memory for it: what this endpoint holds is guessed again, until
   *     its engine's cache is told from the beginning
   */
  public boolean cacheChanged(EndpointSpec endpoint, int grain, CacheChange change) {
    EndpointState state = endpoints.same(endpoint);
    return state == null || endpoints.cacheChanged(state, grain, change);
  }

  /**
   * A request came. Its effect, {@link RequestListener#send}, {@link RequestListener#waits} or
   * {@link RequestListener#reject}, comes before this returns.
   *
   * @return the request's ticket, also passed to the listener
   * @throws RuntimeException or an {@code Error}, whatever a broken plugin throws; the request, or
   *     one that waited before it, has been rejected then, unless the plugin is a policy of flow
   *     control: these are done without
   */
  public long arrive(long now, RequestFacts facts, RequestListener listener) {
    return arrive(now, facts, null, listener);
  }

  /**
   * A request came of which a scheduler outside of the process has said where it should go.
   *
   * @param advice goes before what the config's own scorers and pickers say, also when the request
   *     is sent again; null where nothing was said
   */
  public long arrive(
      long now, RequestFacts facts, @Nullable Advice advice, RequestListener listener) {
    Flight flight = requests.add(now, facts, listener);
    flight.advice = advice;
    long ticket = flight.ticket;
    flight.receipt(receipts.open(now, ticket, facts));
    rules.budget().arrived();
    dispatch.decide(now, flight);
    return ticket;
  }

  /**
   * A scheduler outside of the process has another word on a request that waits; null if it has
   * none any more.
   */
  public void advised(long request, @Nullable Advice advice) {
    Flight flight = requests.get(request);
    if (flight != null && !flight.state().isLeft()) {
      flight.advice = advice;
    }
  }

  /**
   * What a scheduler outside of the process is to know of a request that has not arrived yet; null
   * without a config.
   */
  public @Nullable RequestBrief brief(long now, RequestFacts facts) {
    CompiledConfig active = config.get();
    if (active == null) {
      return null;
    }
    CompiledModel model = active.model(facts.model());
    current.start(now, now, facts, active.criticality(model, facts.headers()), endpoints);
    try {
      current.target(model);
      EndpointState[] all = endpoints.eligible();
      long[] holders = new long[Math.min(all.length, 16)];
      int[] tokens = new int[holders.length];
      int count = 0;
      for (EndpointState endpoint : all) {
        int cached = current.cachedTokensAt(endpoint);
        if (cached > 0) {
          if (count == holders.length) {
            holders = Arrays.copyOf(holders, 2 * count);
            tokens = Arrays.copyOf(tokens, 2 * count);
          }
          holders[count] = endpoint.identity();
          tokens[count++] = cached;
        }
      }
      return new RequestBrief(
          current.targetModel(),
          current.promptTokens(),
          active.criticality(model, facts.headers()),
          active.priority(model, facts.headers()),
          Arrays.copyOf(holders, count),
          Arrays.copyOf(tokens, count),
          allowed(facts, all));
    } finally {
      current.done();
    }
  }

  /** The bounds in time on a request of this model: what it asks for, its model's, the pool's. */
  public Timeouts timeouts(String model, Timeouts asked) {
    CompiledConfig active = config.get();
    return active == null
        ? asked
        : asked.or(active.model(model).timeouts().or(active.poolTimeouts()));
  }

  private static long[] allowed(RequestFacts facts, EndpointState[] all) {
    return facts.subset() == null
        ? new long[0]
        : Stream.of(all)
            .filter(endpoint -> CandidateChoice.allowed(facts, endpoint))
            .mapToLong(EndpointState::identity)
            .toArray();
  }

  /**
   * Tells of every endpoint whose account is another than when this was last asked; one may be told
   * twice, and all are told when too much has changed.
   *
   * @param since what this returned last; 0 at first
   * @return to be passed the next time
   */
  public long loads(long since, Consumer<EndpointLoad> to) {
    EndpointState[] all = endpoints.eligible();
    return endpoints.columns().changes(since, place -> to.accept(all[place].load()));
  }

  /** One endpoint that may get requests; null if none has this name. */
  public @Nullable EndpointLoad load(String name) {
    EndpointState endpoint = endpoints.named(name);
    return endpoint == null ? null : endpoint.load();
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
    Flight known = requests.get(request);
    if (known != null && !known.state().isLeft()) {
      happens(now, request, flight -> failures.failed(now, flight, failure));
    }
  }

  /**
   * The answer that begins is another endpoint's than the one that the request was sent to: a proxy
   * has gone on to one of the route's fallbacks, or to another that it knows, by itself. To be told
   * before anything else of that answer. The endpoint that was passed over has failed the request;
   * the one that answers has it from here on, by a further attempt that {@link
   * RequestListener#send} tells of. Where the config's filters would never send the request there,
   * it is over as by {@link #answeredByFormer}. Of an endpoint that is none of the pool's nothing
   * follows.
   *
   * @param destination the endpoint that answers, in the form of {@link Route#destination}
   * @throws RuntimeException if a plugin is broken, as an Error when it threw one
   */
  public void answeredBy(long now, long request, String destination) {
    Flight known = requests.get(request);
    if (known != null && !known.state().isLeft()) {
      Subset answering = new Subset(List.of(destination));
      happens(now, request, flight -> failures.passedOver(now, flight, answering));
    }
  }

  /**
   * The endpoint answered with this HTTP status: to be told of answers that are none of what was
   * asked for, before what comes of them. Nothing follows from it, people want to know.
   */
  public void status(long request, int status) {
    Flight flight = requests.get(request);
    Receipt receipt = flight == null ? null : flight.receipt();
    if (receipt != null) {
      receipt.status(status);
    }
  }

  /**
   * The endpoint answered that it does not know the request's target model: to be told before what
   * comes of it. No decision follows from it, see {@link #targets}.
   */
  public void unknownModel(long now, long request) {
    Flight flight = requests.get(request);
    if (flight != null && flight.attempt.at != null) {
      targets.refused(now, flight.attempt.target, flight.attempt.at);
    }
  }

  /**
   * The first byte of what was asked for came; of a streamed response that is its first token, and
   * not what only tells the client to wait. Later calls change nothing.
   */
  public void firstByte(long now, long request) {
    Flight flight = requests.get(request);
    if (flight == null || flight.state().isAnswered() || flight.attempt.at == null) {
      return;
    }
    // A head that was not told of came with it.
    health.body(now, flight.attempt.at.health(), Math.max(0, flight.attempt.answersFor(now)));
    flight.answered(now);
    Receipt receipt = flight.receipt();
    if (receipt != null) {
      receipt.answered();
      if (flight.facts.delivery().streamed()) {
        receipt.firstToken(now);
      }
    }
    rules.serves(now, flight, flight.attempt.at);
    Bookings.served(flight, flight.attempt.at);
    if (flight.firstTokenSeen()) {
      bookings.firstToken(now, flight, flight.attempt.at);
      dispatch.sendWaiting(now);
    } else if (flight.state().isPrefilling()) {
      bookings.answeredWhole(now, flight, flight.attempt.at);
      dispatch.sendWaiting(now);
    }
  }

  /**
   * The client gets the response from here on: the request is not sent elsewhere any more, whatever
   * becomes of this attempt. To be told where nothing of what was asked for has come yet, as of a
   * comment that tells the client to wait: {@link #firstByte} says the same and more.
   */
  public void answering(long now, long request) {
    Flight flight = requests.get(request);
    if (flight != null && flight.attempt.at != null) {
      flight.attempt.answers(now);
      flight.attempt.passing = true;
    }
  }

  /**
   * More of the response came, or its head. More says that the endpoint is alive: to be told every
   * {@link #PROGRESS_NANOS} while bytes come, not of each. A head does not: some frontends send it
   * before their engines have seen the request.
   */
  public void progress(long now, long request) {
    Flight flight = requests.get(request);
    if (flight != null && flight.attempt.at != null) {
      flight.attempt.answers(now);
      flight.attempt.askedToWait = flight.attempt.passing;
      if (flight.state().isAnswered()) {
        health.body(now, flight.attempt.at.health(), -1);
        health.sign(now, flight.attempt.at.health());
      }
    }
  }

  /**
   * The request is being served, as is known without a byte of its response: of a choice that is
   * only imagined nothing comes.
   */
  public void isServed(long now, long request) {
    Flight flight = requests.get(request);
    if (flight == null || flight.attempt.at == null) {
      return;
    }
    if (flight.state().isAnswered()) {
      progress(now, request);
    } else {
      health.sign(now, flight.attempt.at.health());
    }
  }

  /**
   * The client takes no more of the response now, or it takes more again. While it doesn't, that
   * nothing comes says nothing of the endpoint: neither that it is silent nor that it is alive. It
   * goes on as far as sockets take what it says, so that it may be through long before: such an
   * answer counts there until a page that is asked for later shows less than is counted, and how
   * long it took teaches nothing.
   */
  public void heldUp(long now, long request, boolean held) {
    Flight flight = requests.get(request);
    if (flight != null && flight.attempt.at != null) {
      flight.attempt.at.heldUp(now, flight, held);
      flight.attempt.lastByteAt = now;
    }
  }

  /**
   * Nobody will tell what becomes of the request: the frontend has left it to a proxy after it was
   * sent. It counts where it is until it must be over, by what the endpoint tells of its requests
   * and by an estimate. Of the endpoint's health and speed such a request says nothing. Its
   * listener hears of nothing from here on.
   *
   * @param told of its end, in the listener's place
   * @return false for one that is over already, or is sent nowhere: nobody is told then
   */
  public boolean left(long now, long request, LeftListener told) {
    Flight flight = requests.get(request);
    if (flight == null || flight.attempt.at == null) {
      return false;
    }
    bookings.expectNoMore(flight);
    left.add(now, flight, flight.attempt.at, told);
    return true;
  }

  /**
   * Time has moved on: deadlines pass, probes fall due. To be called some ten times a second,
   * whatever else happens.
   *
   * @throws PluginFailedException if a plugin is broken; all that was due has happened nevertheless
   */
  public void tick(long now) {
    @Nullable Throwable failure = deadlines.check(now);
    health.tick(now);
    endpoints.tick();
    contexts.tick(now, endpoints.eligible(), current.timesKnown());
    others.tick(now);
    EndpointState[] all = endpoints.eligible();
    for (int i = 0; i < all.length; i++) {
      bookings.presumeFirstTokens(now, all[i]);
      if (all[i].risk() != all[i].health().risk()) {
        all[i].publish(); // failures are forgotten with time
      }
      all[i].tick(now);
      health.check(now, all[i].health(), all[i].expectedPrefill(), all[i].expectedNextPrefill());
    }
    // The last request of one that left may be through with its prompt: then that one is gone.
    for (EndpointState left : List.copyOf(endpoints.leaving())) {
      bookings.presumeFirstTokens(now, left);
    }
    dispatch.tick(now);
    try {
      dispatch.sendWaiting(now);
    } catch (RuntimeException | Error e) {
      failure = e;
    }
    if (failure != null) {
      throw PluginFailedException.of(failure);
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
    dispatch.sendWaiting(now);
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
    ended(now, request, outcome, usage, true);
  }

  /**
   * The request is over for a reason that says nothing of the endpoint, such as what became of it
   * elsewhere: nobody is judged by it. What it has learned until then stays, and its capacity is
   * free again.
   *
   * @throws RuntimeException as {@link #ended}
   */
  public void endedUnjudged(long now, long request, Usage usage) {
    ended(now, request, Outcome.DISCONNECTED, usage, false);
  }

  /**
   * The client gets the answer of an attempt that was given up, just when the request was sent to
   * another endpoint: that one never gets it, and the request counts no more. It says nothing of
   * any endpoint.
   *
   * @throws RuntimeException as {@link #ended}
   */
  public void answeredByFormer(long now, long request) {
    happens(now, request, flight -> ends.answeredByFormer(now, flight));
  }

  private void ended(long now, long request, Outcome outcome, Usage usage, boolean judged) {
    happens(
        now,
        request,
        flight -> {
          Usage told = usage.plausible(flight.facts.maxOutputTokens());
          ends.ended(now, flight, outcome, told, judged);
        });
  }

  /**
   * The request was ended for a more important one, as {@link RequestListener#evict} had asked.
   *
   * @throws RuntimeException as {@link #ended}
   */
  public void evicted(long now, long request) {
    happens(now, request, flight -> ends.evicted(now, flight));
  }

  /** Something happens to a request, if it is not over: that may make room, whatever fails. */
  private void happens(long now, long request, Consumer<Flight> event) {
    Flight flight = requests.get(request);
    if (flight != null) {
      try {
        event.accept(flight);
      } finally {
        dispatch.sendWaiting(now);
      }
    }
  }

  /** The process ends soon: rejects all that wait. What comes later may wait again. */
  public void refuseWaiting(long now) {
    dispatch.refuseWaiting(now, Rejection.Reason.SHUTTING_DOWN);
  }

  /**
   * Begins to tell another picker what this one knows; one at a time is told.
   *
   * @param mostBytes of hashes that are told
   */
  public HandOver handOver(long mostBytes, Knowledge to) {
    return new HandOver(endpoints, prefixes, tokens, teachables(), mostBytes, to);
  }

  /**
   * Another picker is to know what this one sends from now on, until it {@linkplain #leave leaves}.
   */
  public Follower follow() {
    return bookings.follow();
  }

  /** It need not know any more. */
  public void leave(Follower follower) {
    bookings.leave(follower);
  }

  /**
   * Another picker tells from now on what it sends, until it {@linkplain #silent falls silent}.
   *
   * @param picker tells its process from those of all others; it tells on one way at a time, as
   *     what another told late would count after it is over
   */
  public void tells(long picker) {
    others.tells(picker);
    current.telling(others.telling());
  }

  /** It can't be heard any more: what it has in flight ages out. */
  public void silent(long now, long picker) {
    others.silent(now, picker);
    current.telling(others.telling());
    dispatch.sendWaiting(now);
  }

  /** Another picker that tells has told this. Of one that does not, nothing is taken. */
  public void heard(long now, long picker, News news) {
    others.heard(now, picker, news, takeOver());
    dispatch.sendWaiting(now);
  }

  /** Takes what another picker knows. */
  public TakeOver takeOver() {
    return new TakeOver(endpoints, prefixes, tokens, teachables());
  }

  private List<Teachable> teachables() {
    CompiledConfig active = config.get();
    return active == null
        ? List.of()
        : active.observers().stream()
            .filter(Teachable.class::isInstance)
            .map(Teachable.class::cast)
            .toList();
  }

  /** What was decided of the newest requests, and why. */
  public ReceiptLog receipts() {
    return receipts;
  }

  /** Requests sent or waiting that have not ended. */
  public int active() {
    return requests.active();
  }

  /** Requests that wait for room. */
  public int waiting() {
    return admission.waiting();
  }

  /** Who waits, and how full the pool is. */
  public QueueSnapshot queues(long now) {
    return admission.snapshot(now);
  }

  /**
   * Whether endpoints serve the configured targets; those of which nothing is known are left out.
   */
  public List<TargetSnapshot> targets(long now) {
    return targets.snapshot(now);
  }

  /** Whether a config has been applied and there is an endpoint to send to. */
  public boolean ready() {
    return config.get() != null && endpoints.eligible().length > 0;
  }

  /** State of every endpoint, leaving ones included, by name. */
  public List<EndpointSnapshot> snapshot() {
    return endpoints.snapshot();
  }
}
