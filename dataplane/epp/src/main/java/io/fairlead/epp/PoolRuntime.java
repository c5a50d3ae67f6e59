package io.fairlead.epp;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.QueueSnapshot;
import io.fairlead.core.Route;
import io.fairlead.core.TargetSnapshot;
import io.fairlead.core.receipt.Provenance;
import io.fairlead.core.receipt.ReceiptFilter;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.crds.access.PageAccess;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.capture.Capture;
import io.fairlead.epp.checkpoint.Checkpoint;
import io.fairlead.epp.checkpoint.CheckpointFile;
import io.fairlead.epp.checkpoint.CheckpointUse;
import io.fairlead.epp.config.ConfigApplier;
import io.fairlead.epp.config.ConfigOffer;
import io.fairlead.epp.config.ConfigSource;
import io.fairlead.epp.config.DocumentCompiler;
import io.fairlead.epp.datalayer.DataSources;
import io.fairlead.epp.datalayer.EndpointSet;
import io.fairlead.epp.datalayer.EndpointSource;
import io.fairlead.epp.datalayer.MetricsScraper;
import io.fairlead.epp.datalayer.ReplicaSource;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.external.ExternalReport;
import io.fairlead.epp.handover.Following;
import io.fairlead.epp.handover.HandOverResult;
import io.fairlead.epp.handover.HandOverSettings;
import io.fairlead.epp.kvevents.KvEventListener;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.probe.HttpProber;
import io.fairlead.epp.status.ConfigPage;
import io.fairlead.epp.status.DecisionPage;
import io.fairlead.epp.status.EndpointLatency;
import io.fairlead.epp.status.LeaseReporter;
import io.fairlead.epp.status.OutEndpoints;
import io.fairlead.epp.status.PickerStatus;
import io.fairlead.epp.status.PoolMoment;
import io.fairlead.epp.status.SaturationWatch;
import io.fairlead.epp.status.SchedulerWatch;
import io.fairlead.epp.status.StatusPage;
import io.fairlead.epp.telemetry.HealthMeters;
import io.fairlead.epp.telemetry.LoopLag;
import io.fairlead.epp.telemetry.ProcessMeters;
import io.fairlead.epp.telemetry.Telemetry;
import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.transport.Transport;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Everything that runs for one pool: its loop, and around it the sources of config and endpoints,
 * the scraper and the status.
 *
 * <p>Sources are handled on one control thread, in order; the pool's loop gets only finished work.
 */
final class PoolRuntime implements AutoCloseable {

  private static final long REFUSAL_CHECK_MILLIS = 500;

  /** What a picker says of its endpoints' health changes no more often. */
  private static final long HEALTH_LOOK_MILLIS = 1_000;

  private static final long SMALLEST_INDEX = 1 << 20;
  private static final long LARGE_BODY = 32 << 20;

  private static final long MOST_RECEIPT_BYTES = 32 << 20;

  private static final int LATENCIES_AT_A_TIME = 64;

  /** What engines hold, block by block, may fill so small a part of the heap. */
  private static final int CACHE_SHARE = 16;

  private final EventLoop loop;
  private final ControlThread control;
  private final Telemetry telemetry;
  private final ProcessMeters meters;
  private final PoolLoop pool;
  private final PickerStatus status = new PickerStatus();
  private final MetricsScraper scraper;
  private final KvEventListener kvEvents;
  private final ConfigApplier applier;
  private final ConfigSource configs;
  private final @Nullable EndpointSource pods;
  private final @Nullable ReplicaSource replicas;
  private final @Nullable LeaseReporter reporter;
  private final @Nullable KubernetesClient client;
  private final @Nullable PageAccess access;
  private final Readiness readiness;
  private final LongSupplier clock;
  private final @Nullable Capture capture;
  private final MetricsScraper.Settings scraping;
  private final @Nullable EndpointTls endpointTls;

  /** Written on the control thread. */
  private final OutEndpoints out;

  private final SaturationWatch room = new SaturationWatch();
  private final SchedulerWatch schedulers = new SchedulerWatch();

  /** Control thread only. */
  private EndpointSet endpoints = EndpointSet.NONE;

  private Consumer<List<EndpointSpec>> onEndpoints = set -> {};
  private Consumer<PoolConfig> onConfig = config -> {};
  private volatile List<ModelConfig> models = List.of();
  private volatile String name = "";

  /** Whether the source has said anything: until then nobody knows what matches. */
  private boolean endpointsCounted;

  /** Null when nothing is kept. */
  private @Nullable CheckpointFile checkpoints;

  private CheckpointUse fromCheckpoint = new CheckpointUse(null);

  /** The newest that is kept, or was left by an earlier process; control thread only. */
  private @Nullable Checkpoint kept;

  /** In force; null before the first. Control thread only. */
  private @Nullable PoolConfig applied;

  /** The newest that was refused; control thread only. */
  private ConfigOffer.@Nullable Document refusedConfig;

  /** Null until others were asked. */
  private volatile @Nullable HandOverResult handOver;

  private volatile @Nullable Following following;

  /** Pickers that share the pool; control thread only. */
  private int sharing = 1;

  PoolRuntime(
      DataPlaneConfig config,
      EventLoopGroup group,
      LongSupplier clock,
      Readiness readiness,
      @Nullable Capture capture) {
    this.readiness = readiness;
    this.capture = capture;
    this.clock = clock;
    out = new OutEndpoints(InstantSource.system().instant(), clock.getAsLong());
    endpointTls = EndpointTls.of(config.endpoints());
    scraping = config.scraping().withTls(endpointTls);
    loop = group.next();
    control = new ControlThread();
    telemetry = new Telemetry(clock);
    pool =
        new PoolLoop(
            limits(),
            loop,
            clock,
            telemetry,
            new HealthMeters(telemetry.registry()),
            new HttpProber(loop, Transport.client(group), endpointTls),
            config.extProc() == null || !config.extProc().ignoreSubset(),
            capture);
    scraper =
        new MetricsScraper(group, Transport.client(group), scraping, clock, new OnScrapes(pool));
    telemetry.onArrival(scraper::busy);
    kvEvents =
        new KvEventListener(
            Runtime.getRuntime().maxMemory() / CACHE_SHARE, clock, pool::cacheChanged);
    KvEventMeters.register(telemetry.registry(), kvEvents, pool.tokenizers());
    LoopLag.measure(group, telemetry.registry(), clock);
    meters = new ProcessMeters(telemetry.registry(), scraper::sourceFailures, pool::replicas);
    if (capture != null) {
      capture.counters().register(telemetry.registry());
    }
    applier =
        new ConfigApplier(
            new DocumentCompiler(PluginTypes.found()), pool, status, control, new OnConfig());
    Sources sources = sources(config);
    meters.checkpoint(fromCheckpoint);
    meters.handOver(this::handOver);
    meters.following(() -> following);
    configs = sources.configs();
    pods = sources.pods();
    replicas = sources.replicas();
    client = sources.client();
    access = client != null && config.metricsAuth() ? new PageAccess(client, clock) : null;
    reporter = sources.reporter();
    status.listen(meters::report);
    if (reporter != null) {
      status.listen(reporter::report);
      reporter.report(status.current());
    }
  }

  /** Where from, and what an earlier process left to start from instead. */
  private Sources sources(DataPlaneConfig config) {
    Sources sources = Sources.of(config.source(), control);
    if (config.checkpoint() == null || sources.identity() == null) {
      return sources;
    }
    CheckpointFile file = new CheckpointFile(config.checkpoint(), sources.identity());
    kept = file.read();
    checkpoints = file;
    fromCheckpoint = new CheckpointUse(kept);
    return sources.with(file, fromCheckpoint, control);
  }

  /**
   * What is remembered of prompts may fill a quarter of the heap. Bodies of those who wait may fill
   * half of what small ones share, so that there is room for who comes and may go before them; but
   * one of any usual size may wait. Receipts may fill a 32nd, and 32 MiB at most.
   */
  static PoolLimits limits() {
    PoolLimits usual = PoolLimits.DEFAULT;
    return new PoolLimits(
        usual.retries(),
        usual.unknownPrefixBlocks(),
        usual.maxPrefixBlocks(),
        Math.max(SMALLEST_INDEX, Runtime.getRuntime().maxMemory() / 4),
        Math.max(LARGE_BODY, BodyBudget.bytesOfHeap() / 8),
        Math.min(MOST_RECEIPT_BYTES, Runtime.getRuntime().maxMemory() / 32));
  }

  void start() {
    fromCheckpoint.listen(
        () -> pool.origin(new Provenance(fromCheckpoint.config(), fromCheckpoint.endpoints())));
    pool.start();
    if (pods != null) {
      pods.start(set -> control.execute(() -> endpoints(set)));
    }
    if (replicas != null) {
      if (kept != null) {
        share(kept.replicas());
      }
      replicas.start(count -> control.execute(() -> share(count)));
    }
    configs.start(offer -> control.execute(() -> applier.offer(offer)));
    var _ =
        control.scheduleWithFixedDelay(
            this::countEndpoints,
            REFUSAL_CHECK_MILLIS,
            REFUSAL_CHECK_MILLIS,
            TimeUnit.MILLISECONDS);
    var _ =
        control.scheduleWithFixedDelay(
            readiness::tryAgain, REFUSAL_CHECK_MILLIS, REFUSAL_CHECK_MILLIS, TimeUnit.MILLISECONDS);
    EndpointTls tls = endpointTls;
    if (tls != null) {
      var _ =
          control.scheduleWithFixedDelay(
              tls::look,
              ServingSecurity.LOOK_SECONDS,
              ServingSecurity.LOOK_SECONDS,
              TimeUnit.SECONDS);
    }
    var _ =
        control.scheduleWithFixedDelay(
            this::lookAtHealth, HEALTH_LOOK_MILLIS, HEALTH_LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** The models configured now. Any thread. */
  List<ModelConfig> models() {
    return models;
  }

  /** The pool's name, as its config says; empty before the first. Any thread. */
  String name() {
    return name;
  }

  /** TLS to endpoints; null for plain text. */
  @Nullable EndpointTls endpointTls() {
    return endpointTls;
  }

  /** Of the pool's clock. */
  long now() {
    return clock.getAsLong();
  }

  /** Calls {@code listener} on the control thread with every new set; before {@link #start}. */
  void onEndpoints(Consumer<List<EndpointSpec>> listener) {
    onEndpoints = listener;
  }

  /** Calls {@code listener} on the control thread with every config; before {@link #start}. */
  void onConfig(Consumer<PoolConfig> listener) {
    onConfig = listener;
  }

  PoolLoop pool() {
    return pool;
  }

  PickerReport report() {
    return status.current();
  }

  /** What came of asking other pickers. Any thread. */
  void handedOver(HandOverResult result) {
    handOver = result;
  }

  /** It hears from others what they send. Any thread. */
  void follows(Following others) {
    following = others;
  }

  /** What came of asking other pickers; null where nobody is asked. Any thread. */
  @Nullable HandOverResult handOver() {
    return handOver;
  }

  /**
   * Whom this picker may ask what they know, itself left out; null while that is not known. Any
   * thread.
   */
  @Nullable List<String> peers(HandOverSettings settings) {
    if (!settings.peers().isEmpty()) {
      return settings.peers().stream().filter(peer -> !isOwn(peer, settings)).toList();
    }
    if (replicas == null) {
      return List.of();
    }
    List<String> ready = replicas.addresses();
    return ready == null
        ? null
        : ready.stream()
            .filter(address -> !isOwn(address, settings.host()))
            .map(address -> Route.destination(address, settings.port()))
            .toList();
  }

  /** Whether this picker itself answers at {@code host:port}: all of a pool may have one list. */
  private static boolean isOwn(String peer, HandOverSettings settings) {
    int colon = peer.lastIndexOf(':');
    return Integer.parseInt(peer.substring(colon + 1)) == settings.port()
        && isOwn(peer.substring(0, colon), settings.host());
  }

  /** Whether this picker itself answers there, as it listens. */
  private static boolean isOwn(String address, String listening) {
    try {
      InetAddress asked = InetAddress.getByName(address);
      InetAddress own = InetAddress.getByName(listening);
      return own.isAnyLocalAddress()
          ? NetworkInterface.getByInetAddress(asked) != null
          : own.equals(asked);
    } catch (SocketException | UnknownHostException e) {
      return false;
    }
  }

  /** What is still missing; empty when nothing is. */
  String notReady() {
    PickerReport.Refused refused = status.current().refused();
    return switch (readiness.state()) {
      case NO_CONFIG ->
          refused == null ? "no config yet" : "no config in force: " + refused.message();
      case NO_LOOK -> "nobody has looked for endpoints yet";
      case COLD -> "warming up";
      case CANT_LISTEN -> readiness.problem();
      case READY -> "";
      case DRAINING -> "draining";
    };
  }

  Future<List<EndpointSnapshot>> snapshot() {
    return pool.snapshot();
  }

  /**
   * The pool as it is. Latencies are read some endpoints at a time: with a thousand of them all at
   * once would hold requests up for milliseconds.
   */
  Future<PoolMoment> moment() {
    Promise<PoolMoment> moment = loop.newPromise();
    Future<QueueSnapshot> queues = pool.queues();
    pool.snapshot()
        .addListener(
            (Future<List<EndpointSnapshot>> done) -> {
              // Those were asked for on the same loop before, so they are there by now.
              if (done.isSuccess() && queues.isSuccess()) {
                readLatencies(done.getNow(), 0, queues.getNow(), new HashMap<>(), moment);
              } else {
                moment.trySuccess(PoolMoment.NONE);
              }
            });
    return moment;
  }

  private void readLatencies(
      List<EndpointSnapshot> endpoints,
      int from,
      QueueSnapshot queues,
      Map<String, EndpointLatency> read,
      Promise<PoolMoment> moment) {
    int to = Math.min(from + LATENCIES_AT_A_TIME, endpoints.size());
    try {
      for (EndpointSnapshot endpoint : endpoints.subList(from, to)) {
        read.put(endpoint.name(), telemetry.latency(endpoint.name()));
      }
    } catch (RuntimeException | Error e) {
      moment.tryFailure(e); // whoever isn't told would wait for ever
      return;
    }
    if (to == endpoints.size()) {
      moment.trySuccess(new PoolMoment(endpoints, queues, read));
    } else {
      loop.execute(() -> readLatencies(endpoints, to, queues, read, moment));
    }
  }

  /** The status page, with the pool as it was at that moment. */
  String statusPage(PoolMoment moment) {
    Following others = following;
    List<String> telling = others == null ? List.of() : others.telling();
    return new StatusPage(
            status.current(), notReady(), pool.replicas(), fromCheckpoint, handOver, telling)
        .of(moment, out, clock.getAsLong());
  }

  /** The config in force and the one refused, as JSON. */
  Future<String> configPage() {
    Promise<String> page = GlobalEventExecutor.INSTANCE.newPromise();
    control.answer(
        page,
        () -> {
          PickerReport report = status.current();
          PickerReport.Refused newest = report.refused();
          ConfigOffer.Document refused = refusedConfig;
          return ConfigPage.of(
              report,
              applied,
              refused != null && newest != null && refused.configHash().equals(newest.hash())
                  ? refused.config()
                  : null);
        });
    return page;
  }

  Future<Map<String, EndpointLatency>> latencies() {
    return loop.submit(telemetry::latencies);
  }

  /** What was decided of one of the requests of this name, as JSON; null if that isn't kept. */
  Future<@Nullable String> decision(String id, int nth) {
    return rendered(
        pool.decision(id, nth), found -> found == null ? null : new DecisionPage(out).of(found));
  }

  /** Of which requests decisions are kept, in words. */
  Future<String> decisionsKept() {
    return rendered(pool.decisionsKept(), new DecisionPage(out)::kept);
  }

  /** The newest requests whose fields are as wanted, in brief, as JSON. */
  Future<String> decisions(Map<String, String> wanted, int most) {
    ReceiptFilter filter =
        new ReceiptFilter(wanted.get("model"), wanted.get("endpoint"), wanted.get("outcome"));
    return rendered(
        pool.decisions(filter, most),
        found -> new DecisionPage(out).list(found.requests(), found.of()));
  }

  /** A page that is rendered on no loop of requests. */
  private <T extends @Nullable Object, R extends @Nullable Object> Future<R> rendered(
      Future<T> known, Function<T, R> page) {
    Promise<R> promise = GlobalEventExecutor.INSTANCE.newPromise();
    known.addListener(
        (Future<T> done) -> {
          if (done.isSuccess()) {
            control.answer(promise, () -> page.apply(done.getNow()));
          } else {
            promise.tryFailure(done.cause());
          }
        });
    return promise;
  }

  MeterRegistry registry() {
    return telemetry.registry();
  }

  SortedMap<String, Long> scrapeFailures() {
    return scraper.failures();
  }

  /** Says who may get the metrics; null for everybody. */
  @Nullable PageAccess access() {
    return access;
  }

  String metrics() {
    return telemetry.registry().scrape();
  }

  @Override
  public void close() {
    configs.close();
    if (pods != null) {
      pods.close();
    }
    if (replicas != null) {
      replicas.close();
    }
    if (reporter != null) {
      reporter.close();
    }
    control.execute(scraper::close);
    control.execute(kvEvents::close);
    control.execute(pool.tokenizers()::close);
    control.finish();
    pool.shadows().close();
    pool.asks(null);
    if (checkpoints != null) {
      checkpoints.close();
    }
    if (capture != null) {
      loop.submit(capture::seal).awaitUninterruptibly();
    }
    if (client != null) {
      client.close();
    }
  }

  private void share(int count) {
    sharing = count;
    pool.replicas(count);
    keep();
  }

  /** For a start without the API server; before anything is known there is nothing to keep. */
  private void keep() {
    if (checkpoints == null || applied == null || !endpointsCounted) {
      return;
    }
    Checkpoint last = kept;
    if (last != null
        && last.config().equals(applied)
        && last.endpoints().equals(endpoints)
        && last.replicas() == sharing) {
      return;
    }
    Checkpoint now = new Checkpoint(InstantSource.system().instant(), applied, endpoints, sharing);
    kept = now;
    checkpoints.save(now);
  }

  private void endpoints(EndpointSet set) {
    endpointsCounted = true;
    if (set.equals(endpoints)) {
      countEndpoints();
      readiness.endpointsSeen();
      return;
    }
    replace(set);
    keep();
    pool.endpoints(set.ready())
        .addListener(
            done -> {
              // Once the core knows them: it takes no scrape that was begun before.
              control.execute(() -> ask(set));
              if (done.isSuccess()) {
                control.execute(readiness::endpointsSeen);
              }
            });
    countEndpoints();
  }

  private void ask(EndpointSet set) {
    scraper.endpoints(set.ready());
    kvEvents.endpoints(set.ready());
  }

  private void replace(EndpointSet set) {
    endpoints = set;
    onEndpoints.accept(set.ready());
    Set<String> names = set.placesOfReady().keySet();
    loop.execute(() -> telemetry.keepEndpoints(names));
  }

  private void lookAtRoom() {
    pool.queues()
        .addListener(
            (Future<QueueSnapshot> done) -> {
              if (done.isSuccess()) {
                control.execute(
                    () -> {
                      long since = room.look(done.getNow(), clock.getAsLong());
                      status.saturated(since == SaturationWatch.ROOM ? null : out.moment(since));
                    });
              }
            });
  }

  private void lookAtTargets() {
    pool.targets()
        .addListener(
            (Future<List<TargetSnapshot>> done) -> {
              if (done.isSuccess()) {
                control.execute(() -> status.targets(done.getNow()));
              }
            });
  }

  private void lookAtShadows() {
    status.shadowsOff(
        pool.shadows().reports().stream()
            .flatMap(
                shadow ->
                    shadow.off() == null
                        ? Stream.empty()
                        : Stream.of(new PickerReport.ShadowOff(shadow.name(), shadow.off())))
            .toList());
  }

  private void lookAtSchedulers() {
    Map<String, Optional<PickerReport.SchedulerOff>> all = new LinkedHashMap<>();
    for (ExternalReport scheduler : pool.externalReports()) {
      String problem = scheduler.problem();
      String shadow = scheduler.shadow();
      all.put(
          shadow == null ? "" : shadow,
          problem == null
              ? Optional.empty()
              : Optional.of(new PickerReport.SchedulerOff(shadow, scheduler.late(), problem)));
    }
    status.schedulersOff(schedulers.look(all));
  }

  private void lookAtHealth() {
    lookAtRoom();
    lookAtTargets();
    lookAtShadows();
    lookAtSchedulers();
    pool.snapshot()
        .addListener(
            (Future<List<EndpointSnapshot>> done) -> {
              if (done.isSuccess()) {
                control.execute(
                    () -> {
                      out.time(InstantSource.system().instant(), clock.getAsLong());
                      out.look(done.getNow(), clock.getAsLong());
                      if (done.getNow().stream().anyMatch(e -> e.inFlight() > 0)) {
                        scraper.busy();
                      }
                      countEndpoints();
                    });
              }
            });
  }

  private void countEndpoints() {
    Map<String, String> places = endpoints.placesOfReady();
    List<PickerReport.Out> silent = out.among(places);
    String reason = endpoints.reason();
    if (reason == null && scraper.allRefuse() && !out.anyAnswered(places.keySet())) {
      reason = "PortNotServed";
    } else if (reason == null && silent.size() == places.size()) {
      reason = "NoEndpointAnswers";
    }
    status.endpoints(endpoints.matching(), places.size(), endpointsCounted ? reason : null, silent);
  }

  private record OnScrapes(PoolLoop pool) implements MetricsScraper.Sink {

    @Override
    public void scraped(EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
      pool.scraped(endpoint, begunAt, metrics);
    }

    @Override
    public void unreachable(EndpointSpec endpoint, long begunAt, Failure how) {
      pool.unreachable(endpoint, begunAt, how);
    }
  }

  private final class OnConfig implements ConfigApplier.Listener {

    @Override
    public void follow(PoolConfig config, Consumer<@Nullable EndpointSet> found) {
      if (pods == null) {
        found.accept(null);
      } else {
        pods.follow(config, found);
      }
    }

    @Override
    public void applying(PoolConfig config) {
      telemetry.models(config);
    }

    @Override
    public void found(EndpointSet set) {
      endpoints(set);
      taken();
    }

    private void taken() {
      if (pods != null) {
        pods.taken();
      }
    }

    @Override
    public void notApplied() {
      if (applied != null) {
        telemetry.models(applied);
      }
    }

    @Override
    public void applied(
        ConfigOffer.Document document, CompiledConfig config, @Nullable EndpointSet set) {
      if (set != null) {
        endpointsCounted = true;
        if (!set.equals(endpoints)) {
          replace(set);
        }
      }
      taken();
      fromCheckpoint.applied(document.origin());
      meters.reloaded();
      scraper.sources(DataSources.of(config, scraping));
      kvEvents.configured(config);
      pool.tokenizers().configured(config);
      models = document.config().models();
      onConfig.accept(document.config());
      applied = document.config();
      keep();
      name = document.config().name();
      readiness.configured();
      if (endpointsCounted) {
        // Once the core knows them: it takes no scrape that was begun before.
        ask(endpoints);
        countEndpoints();
        readiness.endpointsSeen();
      }
    }

    @Override
    public void refused(ConfigOffer offer, String message) {
      meters.refused();
      PickerReport.Refused newest = status.current().refused();
      if (newest != null && Objects.equals(newest.hash(), offer.configHash())) {
        refusedConfig = offer instanceof ConfigOffer.Document document ? document : null;
      }
    }
  }
}
