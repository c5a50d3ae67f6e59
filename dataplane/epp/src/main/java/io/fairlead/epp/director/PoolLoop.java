package io.fairlead.epp.director;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Follower;
import io.fairlead.core.HandOver;
import io.fairlead.core.HealthChange;
import io.fairlead.core.Learned;
import io.fairlead.core.PluginFailedException;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PoolListener;
import io.fairlead.core.Probe;
import io.fairlead.core.QueueSnapshot;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestHeaders;
import io.fairlead.core.TakeOver;
import io.fairlead.core.TargetSnapshot;
import io.fairlead.core.Timeouts;
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.core.external.RequestBrief;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.handover.News;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.receipt.DecidedRequest;
import io.fairlead.core.receipt.NamedRequest;
import io.fairlead.core.receipt.Provenance;
import io.fairlead.core.receipt.ReceiptFilter;
import io.fairlead.core.receipt.ReceiptLog;
import io.fairlead.core.receipt.ReceiptSearch;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.capture.Capture;
import io.fairlead.epp.capture.Untold;
import io.fairlead.epp.external.ExternalCounts;
import io.fairlead.epp.external.ExternalReport;
import io.fairlead.epp.external.ExternalScheduling;
import io.fairlead.epp.external.PoolView;
import io.fairlead.epp.external.SchedulerLoop;
import io.fairlead.epp.handover.HandOverPool;
import io.fairlead.epp.kvevents.KvEventReader;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.openai.RequestReader;
import io.fairlead.epp.shadow.Shadows;
import io.fairlead.epp.tokens.PromptTokenizers;
import io.fairlead.epp.transport.Periodic;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool's core together with the one loop that owns it. Safe to call from any thread: each call
 * becomes an event on the loop, and the calls of one caller keep their order.
 */
public final class PoolLoop {

  private static final Logger LOG = LoggerFactory.getLogger(PoolLoop.class);

  private static final long TICK_MILLIS = 100;

  /** Since the tick before: longer than a busy loop or a collection of garbage takes. */
  private static final long LATE_NANOS = 1_000_000_000;

  private static final int SHADOW_PART = 16;

  /** Kinds of plugins of which it is kept what they have learned here: who comes back is one. */
  private static final int MOST_LEARNED = 8;

  /** Requests that may wait for a decision: some tenths of a second of decisions. */
  static final int MOST_WAITING = 4_096;

  private final PoolCore core;
  private final EventExecutor loop;
  private final LongSupplier clock;

  /**
   * When the core was told the time last, or would have been but for a pause. Where it is 0 at
   * first, the first tick counts as late.
   */
  private long tickedAt;

  /**
   * Whether the core was not told of the last tick. It is told of the next one then, however late:
   * a loop that is busy for long is late each time.
   */
  private boolean skipped;

  private final RequestObserver observer;
  private final @Nullable Capture capture;
  private final Shadows shadows;

  /** What plugins have learned of real requests, as of the last edit. */
  private List<Learned> learned = List.of();

  private final boolean subsets;

  private final PromptTokenizers tokenizers;

  private final ExternalCounts externalCounts = new ExternalCounts();

  /** Asked where requests go; null where the config's plugins alone decide. Set on the loop. */
  private volatile @Nullable ExternalScheduling external;

  /** Requests that were handed over to the loop, and that it has not come to. */
  private final AtomicInteger waiting = new AtomicInteger();

  /** Requests with answers that the core has given up and does not time. */
  private final Set<Director> untimed = new HashSet<>();

  private long failures;

  /** As the last config said. */
  private int wantedReceipts;

  /** Written on the loop. */
  private volatile boolean trustTimeoutHeaders;

  /** Written on the loop. */
  private volatile HeaderTrust trust = HeaderTrust.DEFAULT;

  /** Written on the loop. */
  private volatile int replicas = 1;

  /**
   * A loop for a core that nobody else uses from here on.
   *
   * @param core used by nobody else from here on
   * @param loop owner of the core
   * @param clock monotonic nanoseconds
   * @param observer told of every request
   */
  public PoolLoop(PoolCore core, EventExecutor loop, LongSupplier clock, RequestObserver observer) {
    this(core, loop, clock, observer, null);
  }

  /**
   * A loop for a core that nobody else uses from here on.
   *
   * @param capture told of all that the core is told, on the loop; null for nobody
   */
  public PoolLoop(
      PoolCore core,
      EventExecutor loop,
      LongSupplier clock,
      RequestObserver observer,
      @Nullable Capture capture) {
    this.capture = capture;
    this.core = core;
    this.loop = loop;
    this.clock = clock;
    this.tickedAt = clock.getAsLong();
    this.observer = observer;
    subsets = true;
    tokenizers = new PromptTokenizers(clock);
    shadows = new Shadows(PoolLimits.DEFAULT);
  }

  /**
   * A loop with a core that probes endpoints.
   *
   * @param limits of the core
   * @param endpoints told of their health, on the loop
   * @param prober asks them
   * @param subsets whether a request goes only where its gateway allows
   */
  public PoolLoop(
      PoolLimits limits,
      EventExecutor loop,
      LongSupplier clock,
      RequestObserver observer,
      EndpointObserver endpoints,
      Prober prober,
      boolean subsets,
      @Nullable Capture capture) {
    this.capture = capture;
    PoolListener effects = new OnEndpoints(endpoints, prober);
    this.core = new PoolCore(limits, capture == null ? effects : capture.watched(effects));
    this.loop = loop;
    this.clock = clock;
    this.observer = observer;
    this.subsets = subsets;
    tokenizers = new PromptTokenizers(clock);
    this.shadows = new Shadows(forShadow(limits));
  }

  /**
   * A small part of the pool's own memory for prompts, as there may be eight, and no decision is
   * kept.
   */
  private static PoolLimits forShadow(PoolLimits pool) {
    return new PoolLimits(
        pool.retries(),
        pool.unknownPrefixBlocks(),
        pool.maxPrefixBlocks(),
        Math.max(1 << 20, pool.maxPrefixBytes() / SHADOW_PART),
        0);
  }

  /** Applies a config between two events; the future ends when it is in force. */
  public Future<?> configure(CompiledConfig config) {
    return configure(config, null);
  }

  /**
   * Applies a config and the endpoints that belong to it between two events: no request meets one
   * without the other.
   *
   * @param endpoints null to keep those that there are
   */
  public Future<?> configure(CompiledConfig config, @Nullable List<EndpointSpec> endpoints) {
    return loop.submit(
        () -> {
          long now = clock.getAsLong();
          if (capture != null) {
            capture.configured(now, config);
          }
          List<Learned> known = learned(now, config);
          told(() -> configure(now, config, known));
          // The core has it from here on: nothing else may leave it without its endpoints.
          tellOfFewerReceipts(config.receipts().keep());
          trustTimeoutHeaders = config.trustTimeoutHeaders();
          trust = new HeaderTrust(config.trustFlowHeaders());
          beside(() -> shadows.configured(now, config, learned));
          beside(() -> external(config));
          if (endpoints != null) {
            change(now, endpoints);
          }
        });
  }

  private static void beside(Runnable event) {
    try {
      event.run();
    } catch (RuntimeException | Error e) {
      LOG.error("a config is in force, and something beside it has failed", e);
    }
  }

  /**
   * What plugins may begin with that come into force: what was learned here of real requests comes
   * before what a shadow has imagined. Where nothing is tried nothing changes places, and what is
   * learned need not be told.
   */
  private List<Learned> learned(long now, CompiledConfig config) {
    if (!shadows.some() && config.shadows().isEmpty()) {
      return learned;
    }
    List<Learned> here = new ArrayList<>(core.learned(now));
    for (Learned before : learned) {
      if (here.size() < MOST_LEARNED && here.stream().noneMatch(one -> one.isOf(before.plugin()))) {
        here.add(before);
      }
    }
    learned = List.copyOf(here);
    here.addAll(shadows.learned());
    return here;
  }

  private void configure(long now, CompiledConfig config, List<Learned> known) {
    boolean taught = core.configure(now, config, known);
    if (taught && capture != null) {
      capture.untold(now, Untold.LEARNED);
    }
  }

  /** Once for each wish: configs come again and again, with other models or endpoints. */
  private void tellOfFewerReceipts(int wanted) {
    int most = core.receipts().kept().most();
    boolean another = wanted != wantedReceipts;
    wantedReceipts = wanted;
    if (another && most > 0 && most < wanted) {
      LOG.info(
          "requests.receipts.keep is {}: there is memory for {} receipts, and the newest {} are"
              + " kept",
          wanted,
          most,
          most);
    }
  }

  /** Sets which endpoints may get requests; the future ends when it is in force. */
  public Future<?> endpoints(List<EndpointSpec> endpoints) {
    return loop.submit(() -> change(clock.getAsLong(), endpoints));
  }

  /** A scheduler goes on with its stream unless it is to be asked in another way. */
  private void external(CompiledConfig config) {
    List<ExternalScheduler> listed = config.settings(ExternalScheduler.class);
    ExternalScheduler wanted = listed.isEmpty() ? null : listed.getFirst();
    ExternalScheduling before = external;
    if (before != null && before.settings().equals(wanted)) {
      return;
    }
    PoolConfig source = config.source();
    asks(
        wanted == null
            ? null
            : new ExternalScheduling(
                wanted,
                source.namespace() + "/" + source.name(),
                null,
                new ForScheduler(),
                SchedulerLoop.of(loop),
                clock,
                externalCounts));
  }

  /** From now on this scheduler outside of the process is asked, and no other; null for none. */
  public void asks(@Nullable ExternalScheduling next) {
    run(
        () -> {
          ExternalScheduling before = external;
          external = next;
          if (before != null) {
            if (next != null) {
              next.takeWaiting(before);
            }
            before.close();
          }
        });
  }

  /** How external schedulers do: that of the config first, then those of shadows. Any thread. */
  public List<ExternalReport> externalReports() {
    ExternalScheduling now = external;
    List<ExternalReport> all = new ArrayList<>();
    if (now != null) {
      all.add(now.report());
    }
    all.addAll(shadows.externalReports());
    return all;
  }

  @Nullable ExternalScheduling external() {
    return external;
  }

  private void change(long now, List<EndpointSpec> endpoints) {
    if (capture != null) {
      capture.endpoints(now, endpoints);
    }
    told(() -> core.endpoints(now, endpoints));
    shadows.endpoints(now, endpoints);
    if (external != null) {
      external.endpointsChanged();
    }
  }

  /** Tells the core of something that is in force also when a plugin breaks at it. */
  private void told(Runnable event) {
    try {
      event.run();
    } catch (PluginFailedException e) {
      pluginFailed(e);
    }
  }

  /** Where config and endpoints are from that come into force from now on, for receipts. */
  public void origin(Provenance origin) {
    run(() -> core.origin(origin));
  }

  /** Sets how many pickers share the pool, at least 1. */
  public void replicas(int count) {
    run(
        () -> {
          core.replicas(count);
          replicas = count;
          shadows.replicas(count);
          if (capture != null) {
            capture.replicas(clock.getAsLong(), count);
          }
        });
  }

  /** How many pickers share the pool, as the core has it. */
  public int replicas() {
    return replicas;
  }

  /** Hands a scrape in that was begun at {@code begunAt} of the loop's clock. */
  public void scraped(EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
    run(
        () -> {
          long now = clock.getAsLong();
          if (capture != null) {
            capture.scraped(now, endpoint, begunAt, metrics);
          }
          guarded(() -> core.scraped(now, endpoint, begunAt, metrics));
          shadows.scraped(now, endpoint, begunAt, metrics);
          if (external != null) {
            external.changed(endpoint.name());
          }
        });
  }

  /**
   * Hands in what an endpoint's engine has told of its cache.
   *
   * @param done told whether there was room for it, on the loop
   */
  public void cacheChanged(
      EndpointSpec endpoint, int grain, CacheChange change, KvEventReader.Done done) {
    try {
      run(
          () -> {
            boolean room = true;
            if (capture != null) {
              capture.untold(clock.getAsLong(), Untold.KV_EVENTS);
            }
            try {
              room = core.cacheChanged(endpoint, grain, change);
            } finally {
              done.taken(room); // whatever happens: who isn't told waits
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("the pool's loop has ended, and its accounts with it", e);
      done.taken(true);
    }
  }

  /** Hands in that a scrape failed that was begun at {@code begunAt} of the loop's clock. */
  public void unreachable(EndpointSpec endpoint, long begunAt, Failure failure) {
    run(
        () -> {
          long now = clock.getAsLong();
          if (capture != null) {
            capture.unreachable(now, endpoint, begunAt, failure);
          }
          guarded(() -> core.unreachable(now, endpoint, begunAt, failure));
          shadows.unreachable(now, endpoint, begunAt, failure);
        });
  }

  /** Begins to tell the core the time; ends with the loop. */
  public void start() {
    Periodic.run(loop, this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Tells the core the time; on the loop. */
  void tick() {
    long now = clock.getAsLong();
    // After a pause of the process or its machine what came meanwhile is read first: nobody's time
    // is up for what has been there all along.
    skipped = !skipped && now - tickedAt > LATE_NANOS;
    tickedAt = now;
    if (!skipped) {
      if (capture != null) {
        capture.tick(now);
      }
      guarded(() -> core.tick(now));
      untimed.removeIf(one -> one.breaksOff(now));
    }
    shadows.tick(now);
    if (external != null) {
      external.tick(now);
    }
  }

  /** Requests are sent elsewhere by events that are of no request, and their plugins may throw. */
  private void guarded(Runnable event) {
    try {
      event.run();
    } catch (RuntimeException | Error e) {
      pluginFailed(e);
    }
  }

  /** The bounds in time that a request's own headers set, where the config trusts them. */
  public Timeouts timeouts(ReceivedHeaders headers) {
    return TimeoutHeaders.read(
        headers, trustTimeoutHeaders, why -> run(() -> observer.timeoutHeaderIgnored(why)));
  }

  /**
   * A request's headers as the core may see them: those of flow control where the config trusts
   * them.
   *
   * @param headers all, which must not change
   */
  public RequestHeaders headers(ReceivedHeaders headers, Origin origin) {
    return TrustedHeaders.of(
        headers, trust, origin, why -> run(() -> observer.flowHeaderIgnored(why)));
  }

  /** The process ends soon: rejects all requests that wait. */
  public void refuseWaiting() {
    run(
        () -> {
          long now = clock.getAsLong();
          if (capture != null) {
            capture.refusedWaiting(now);
          }
          core.refuseWaiting(now);
        });
  }

  /** A frontend refused a request that no endpoint should see. */
  public void refused(String frontend, OpenAiError error) {
    run(() -> observer.refused(frontend, error.code()));
  }

  /** A reader for the bodies of this pool's requests; one per connection loop. */
  public RequestReader newReader() {
    return new RequestReader(
        RequestReader.DEFAULT_MAX_BLOCKS, capture == null ? null : capture.salt());
  }

  /** State of every endpoint at one moment. */
  public Future<List<EndpointSnapshot>> snapshot() {
    return loop.submit(core::snapshot);
  }

  /** Who waits at one moment, and how full the pool is. */
  public Future<QueueSnapshot> queues() {
    return loop.submit(() -> core.queues(clock.getAsLong()));
  }

  /** Whether endpoints serve the configured targets, asked for on the loop. */
  public Future<List<TargetSnapshot>> targets() {
    return loop.submit(() -> core.targets(clock.getAsLong()));
  }

  /**
   * What was decided of one of the requests of this name; null if that isn't kept.
   *
   * @param nth of them, from 1 for the newest
   */
  public Future<@Nullable NamedRequest> decision(String id, int nth) {
    return searched(
        () -> core.receipts().named(id, nth),
        found ->
            found.size() < nth
                ? null
                : found
                    .get(nth - 1)
                    .map(request -> new NamedRequest(request, nth, found.size()))
                    .orElse(null));
  }

  /** How prompts are hashed here: others' hashes are of use only if that is the same there. */
  public String hashing() {
    return capture == null ? "plain" : Long.toHexString(capture.salt().fingerprint());
  }

  /** Begins to tell another picker what this one knows. */
  public Future<HandOver> handOver(long mostBytes, Knowledge to) {
    return loop.submit(() -> core.handOver(mostBytes, to));
  }

  /** Tells the next piece; false when there is no more. */
  public Future<Boolean> handOver(HandOver telling) {
    return loop.submit(() -> telling.next(clock.getAsLong()));
  }

  /** Ends it before all is told. */
  public void stop(HandOver telling) {
    loop.execute(telling::stop);
  }

  /** Another picker is to know what is sent from now on. */
  public Future<Follower> follow() {
    return loop.submit(core::follow);
  }

  /** What became of requests since it was asked last. */
  public Future<News> news(Follower follower) {
    return loop.submit(() -> follower.take(clock.getAsLong()));
  }

  /** Another picker tells what it sends. */
  public void tells(long picker) {
    loop.execute(
        () -> {
          core.tells(picker);
          shadows.tells(picker);
        });
  }

  /** It has told this. */
  public Future<?> heard(long picker, News news) {
    return loop.submit(
        () -> {
          long now = clock.getAsLong();
          if (capture != null) {
            capture.untold(now, Untold.TAKEN_OVER);
          }
          shadows.heard(now, picker, news);
          try {
            core.heard(now, picker, news);
          } catch (PluginFailedException e) {
            pluginFailed(e); // it was for who waits: the news is taken
          }
        });
  }

  /** It tells no more. */
  public void silent(long picker) {
    loop.execute(
        () -> {
          long now = clock.getAsLong();
          shadows.silent(now, picker);
          guarded(() -> core.silent(now, picker));
        });
  }

  /** It need not know any more. */
  public void leave(Follower follower) {
    loop.execute(() -> core.leave(follower));
  }

  /** Takes some of what another picker tells; false when there is no more. */
  public Future<Boolean> takeOver(HandOverPool.Piece piece) {
    return loop.submit(
        () -> {
          long now = clock.getAsLong();
          TakeOver taking = core.takeOver();
          boolean more = piece.take(taking, now);
          if (capture != null && taking.hasTaken()) {
            capture.untold(now, Untold.TAKEN_OVER);
          }
          return more;
        });
  }

  /** Of which requests decisions are kept. */
  public Future<ReceiptLog.Kept> decisionsKept() {
    return loop.submit(() -> core.receipts().kept());
  }

  /**
   * The newest requests that are asked for of which decisions are kept.
   *
   * @param requests newest first
   * @param of what there are receipts
   */
  public record NewestDecisions(List<DecidedRequest> requests, ReceiptLog.Kept of) {}

  /** The newest requests that are asked for of which decisions are kept. */
  public Future<NewestDecisions> decisions(ReceiptFilter wanted, int most) {
    return searched(
        () -> core.receipts().accepted(wanted, most),
        found -> new NewestDecisions(found, core.receipts().kept()));
  }

  private <T, R extends @Nullable Object> Future<R> searched(
      Supplier<ReceiptSearch<T>> begin, Function<List<T>, R> end) {
    Promise<R> promise = loop.newPromise();
    loop.execute(() -> search(begin.get(), end, promise));
    return promise;
  }

  /** A piece in each turn of the loop: requests come in between. */
  private <T, R extends @Nullable Object> void search(
      ReceiptSearch<T> search, Function<List<T>, R> end, Promise<R> promise) {
    try {
      if (search.next()) {
        loop.execute(() -> search(search, end, promise));
      } else {
        promise.trySuccess(end.apply(search.found()));
      }
    } catch (RuntimeException | Error e) {
      promise.tryFailure(e); // whoever isn't told would wait for ever
    }
  }

  /** Requests that have not ended. */
  public Future<Integer> active() {
    return loop.submit(() -> core.active() + (external == null ? 0 : external.asked()));
  }

  /**
   * Runs a request's arrival on the loop, unless too many wait there. What is told of requests
   * after that is never refused, or accounts would be wrong.
   *
   * @return whether it will run
   */
  boolean arrive(Runnable event) {
    if (loop.inEventLoop()) {
      event.run();
      return true;
    }
    if (waiting.incrementAndGet() > MOST_WAITING) {
      waiting.decrementAndGet();
      return false;
    }
    loop.execute(
        () -> {
          waiting.decrementAndGet();
          event.run();
        });
    return true;
  }

  /** The client gets an answer that the core does not time; on the loop. */
  void watch(Director director) {
    untimed.add(director);
  }

  /** That answer is over. */
  void watchNoMore(Director director) {
    untimed.remove(director);
  }

  /** Runs on the loop: at once when already there. */
  void run(Runnable event) {
    if (loop.inEventLoop()) {
      event.run();
    } else {
      loop.execute(event);
    }
  }

  /** Runs on the loop after the event that is under way. */
  void later(Runnable event) {
    try {
      loop.execute(event);
    } catch (RejectedExecutionException e) {
      LOG.debug("the pool's loop has ended, and its accounts with it", e);
    }
  }

  /**
   * A plugin threw; its request has been rejected, or what it was told of has happened anyway.
   * Logged ever more rarely. What says that the virtual machine itself is in trouble is thrown on;
   * only a stack that a plugin used up is its own fault, and free again by now.
   */
  void pluginFailed(Throwable thrown) {
    Throwable wrapped = thrown instanceof PluginFailedException ? thrown.getCause() : null;
    Throwable cause = wrapped == null ? thrown : wrapped;
    failures++;
    if (Long.bitCount(failures) == 1) {
      LOG.error("A scheduling plugin failed, {} times so far", failures, cause);
    }
    if (cause instanceof VirtualMachineError fatal && !(cause instanceof StackOverflowError)) {
      throw fatal;
    }
  }

  /** Where the core is: whoever is there already need not wait for another thread. */
  public EventExecutor loop() {
    return loop;
  }

  /** Whether a request goes only where its gateway allows. */
  boolean subsets() {
    return subsets;
  }

  /** The models' own tokenizers. */
  public PromptTokenizers tokenizers() {
    return tokenizers;
  }

  /** What is tried beside the config in force. */
  public Shadows shadows() {
    return shadows;
  }

  @Nullable Capture capture() {
    return capture;
  }

  PoolCore core() {
    return core;
  }

  long now() {
    return clock.getAsLong();
  }

  RequestObserver observer() {
    return observer;
  }

  /** Tells an external scheduler of the core. */
  private final class ForScheduler implements PoolView {

    @Override
    public @Nullable RequestBrief brief(long now, RequestFacts facts) {
      return core.brief(now, facts);
    }

    @Override
    public long loads(long since, Consumer<EndpointLoad> to) {
      return core.loads(since, to);
    }

    @Override
    public @Nullable EndpointLoad load(String name) {
      return core.load(name);
    }
  }

  /** Carries the core's effects on endpoints out. */
  private final class OnEndpoints implements PoolListener {

    private final EndpointObserver endpoints;
    private final Prober prober;

    OnEndpoints(EndpointObserver endpoints, Prober prober) {
      this.endpoints = endpoints;
      this.prober = prober;
    }

    @Override
    public boolean probe(Probe probe) {
      prober.ask(probe, failure -> run(() -> guarded(() -> came(probe.id(), failure))));
      return true;
    }

    private void came(long probe, @Nullable Failure failure) {
      endpoints.probed(failure);
      long now = now();
      if (capture != null) {
        capture.probed(now, probe, failure);
      }
      if (failure == null) {
        core.probed(now, probe);
      } else {
        core.probeFailed(now, probe, failure);
      }
    }

    @Override
    public void healthChanged(HealthChange change) {
      endpoints.healthChanged(change);
      if (external != null) {
        external.changed(change.endpoint().name());
      }
    }
  }
}
