package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.epp.director.EndpointObserver;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A gateway with its pool before endpoints that do as the test says. One loop, so that a client's
 * requests find the connections that its earlier ones left.
 */
final class Rig implements Closeable {

  /** What becomes of probes. */
  private enum Probes {
    /** Requests serve as probes. */
    NONE,
    ANSWERED,
    UNANSWERED
  }

  /** What a client has to say. */
  interface Words {
    void say(RawHttp client) throws IOException;
  }

  static final String CHAT = "/v1/chat/completions";
  static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

  final Queue<String> events = new ConcurrentLinkedQueue<>();
  final Queue<String> answers = new ConcurrentLinkedQueue<>();
  final Gateway gateway;
  final PoolLoop pool;
  final BodyBudget bodies;
  private final EventLoopGroup group = Transport.group("test", 1);
  private final EventLoopGroup decisions;
  private final RawBackend[] backends;
  private final Queue<CountDownLatch> holds = new ConcurrentLinkedQueue<>();

  Rig(GatewayConfig config, RawBackend... backends) {
    this(config, RequestsConfig.DEFAULT, specs(backends), backends);
  }

  /** With bounds in time. */
  Rig(TimeoutsConfig timeouts, RawBackend... backends) {
    this(config(), requests(timeouts), specs(backends), backends);
  }

  /**
   * With other endpoints than these.
   *
   * @param backends closed in the end
   */
  Rig(
      GatewayConfig config,
      RequestsConfig requests,
      List<EndpointSpec> endpoints,
      RawBackend... backends) {
    this(config, requests, endpoints, List.of(), BodyBudget.ofHeap(), backends);
  }

  private Rig(
      GatewayConfig config,
      RequestsConfig requests,
      List<EndpointSpec> endpoints,
      List<ModelConfig> models,
      BodyBudget bodies,
      RawBackend... backends) {
    this(config, requests, endpoints, models, bodies, false, Probes.NONE, backends);
  }

  private Rig(
      GatewayConfig config,
      RequestsConfig requests,
      List<EndpointSpec> endpoints,
      List<ModelConfig> models,
      BodyBudget bodies,
      boolean decidesApart,
      Probes probes,
      RawBackend... backends) {
    this.backends = backends;
    this.bodies = bodies;
    decisions = decidesApart ? Transport.group("decisions", 1) : group;
    AtomicLong seeds = new AtomicLong(1);
    EventLog log = new EventLog(events, answers);
    pool =
        probes == Probes.NONE
            ? new PoolLoop(new PoolCore(), decisions.next(), System::nanoTime, log)
            : new PoolLoop(
                PoolLimits.DEFAULT,
                decisions.next(),
                System::nanoTime,
                log,
                new Unheard(),
                (probe, answer) -> {
                  if (probes == Probes.ANSWERED) {
                    decisions.next().execute(() -> answer.came(null));
                  }
                },
                true,
                null);
    gateway =
        Gateway.start(
            config, pool, bodies, group, () -> true, () -> models, seeds::incrementAndGet);
    PoolConfig poolConfig =
        new PoolConfig(
            "n", "p", Map.of(), List.of(1), "http", models, requests, SchedulerConfig.DEFAULT);
    pool.configure(new ConfigCompiler(List.of()).compile(poolConfig)).syncUninterruptibly();
    pool.endpoints(endpoints).syncUninterruptibly();
    gateway.retain(endpoints);
    pool.start();
  }

  /** Whose pool has a loop of its own. */
  static Rig decidingApart(RawBackend... backends) {
    return new Rig(
        config(),
        RequestsConfig.DEFAULT,
        specs(backends),
        List.of(),
        BodyBudget.ofHeap(),
        true,
        Probes.NONE,
        backends);
  }

  /** Whose endpoints answer all that probes ask, whatever becomes of requests. */
  static Rig answeringProbes(RawBackend... backends) {
    return new Rig(
        config(),
        RequestsConfig.DEFAULT,
        specs(backends),
        List.of(),
        BodyBudget.ofHeap(),
        false,
        Probes.ANSWERED,
        backends);
  }

  /** Whose endpoints answer no probe: one that is out stays out, however long a test takes. */
  static Rig leavingProbes(
      GatewayConfig config, List<EndpointSpec> endpoints, RawBackend... backends) {
    return new Rig(
        config,
        RequestsConfig.DEFAULT,
        endpoints,
        List.of(),
        BodyBudget.ofHeap(),
        false,
        Probes.UNANSWERED,
        backends);
  }

  /** Nobody wants to know how endpoints are. */
  private static final class Unheard implements EndpointObserver {

    @Override
    public void healthChanged(HealthChange change) {}

    @Override
    public void probed(@Nullable Failure failure) {}
  }

  /** With so much memory for bodies. */
  Rig(BodyBudget bodies, RawBackend... backends) {
    this(config(), RequestsConfig.DEFAULT, specs(backends), List.of(), bodies, backends);
  }

  /** With models configured. */
  Rig(List<ModelConfig> models, RawBackend... backends) {
    this(config(), RequestsConfig.DEFAULT, specs(backends), models, BodyBudget.ofHeap(), backends);
  }

  private static List<EndpointSpec> specs(RawBackend... backends) {
    return Arrays.stream(backends).map(RawBackend::spec).toList();
  }

  static RequestsConfig requests(TimeoutsConfig timeouts) {
    RequestsConfig usual = RequestsConfig.DEFAULT;
    return new RequestsConfig(
        usual.unconfiguredModels(), timeouts, true, usual.retryBudgetPercent());
  }

  /** Bytes of which as many may wait as like. */
  static ClientBytes unbounded() {
    return new ClientBytes(Long.MAX_VALUE, () -> 0, "of the test");
  }

  /** Keeps connections to endpoints for longer than a test stands still. */
  static GatewayConfig config() {
    return GatewayConfig.on("127.0.0.1", 0)
        .withBackends(BackendBounds.DEFAULT.withIdle(Duration.ofMinutes(5)));
  }

  RawHttp connect() throws IOException {
    return RawHttp.connect(gateway.port());
  }

  /** A client that has said this before any time passes for it in the gateway. */
  RawHttp connect(Words first) throws IOException, InterruptedException {
    return connect(gateway, group.next(), first);
  }

  /**
   * The same.
   *
   * @param loop the gateway's only one
   */
  static RawHttp connect(Gateway gateway, EventExecutor loop, Words first)
      throws IOException, InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    hold(loop, end);
    try {
      RawHttp client = RawHttp.connect(gateway.port());
      first.say(client);
      return client;
    } finally {
      end.countDown();
    }
  }

  /** Asks until every endpoint has answered: then each has an idle connection. */
  void warmUp(RawHttp client) throws IOException {
    for (int i = 0; i < 200 && !Arrays.stream(backends).allMatch(b -> !b.requests.isEmpty()); i++) {
      client.post(CHAT, BODY);
      assertThat(client.read().status()).isEqualTo(200);
    }
    for (RawBackend backend : backends) {
      assertThat(backend.requests).isNotEmpty();
      backend.requests.clear();
    }
    await().until(() -> pool.active().get() == 0);
    events.clear();
  }

  /** Keeps the pool's loop busy until what it returns is counted down, or the rig is closed. */
  CountDownLatch holdDecisions() throws InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    holds.add(end);
    hold(decisions.next(), end);
    return end;
  }

  /** Keeps a loop busy until {@code end} is counted down. */
  static void hold(EventExecutor loop, CountDownLatch end) throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    loop.execute(
        () -> {
          held.countDown();
          try {
            end.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    held.await();
  }

  /** Returns when the gateway's loop has seen all that its sockets had to tell by now. */
  void settleSockets() {
    for (int i = 0; i < 4; i++) { // what is seen after the first, and what follows from that
      group.next().submit(() -> {}).syncUninterruptibly();
    }
  }

  /** The codes of all that the gateway refused by now. */
  List<String> refusals() {
    String refused = "refused by gateway: ";
    return events.stream()
        .filter(event -> event.startsWith(refused))
        .map(event -> event.substring(refused.length()))
        .toList();
  }

  void awaitEvents(String... expected) {
    await().untilAsserted(() -> assertThat(events).containsExactly(expected));
  }

  @Override
  public void close() throws IOException {
    holds.forEach(CountDownLatch::countDown);
    gateway.drain(Duration.ZERO, Duration.ZERO).syncUninterruptibly();
    try {
      await().untilAsserted(() -> assertThat(pool.active().get()).as("still counted").isZero());
      await().untilAsserted(() -> assertThat(bodies.used()).as("bytes still charged").isZero());
      await().untilAsserted(() -> assertThat(bodies.waiting()).isZero());
      await().untilAsserted(() -> assertThat(bodies.usedByHeads()).isZero());
    } finally {
      for (RawBackend backend : backends) {
        backend.close();
      }
      group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
      decisions.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
  }
}
