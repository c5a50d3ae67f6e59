package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.director.RequestObserver;
import io.fairlead.epp.frontend.extproc.RecordedTrace.Asked;
import io.fairlead.epp.frontend.gateway.Gateway;
import io.fairlead.epp.frontend.gateway.GatewayConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.transport.Transport;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A recorded trace through the gateway, and through the picker behind a real Envoy: with the same
 * seeds both choose the same.
 *
 * <p>The pool's clock is the trace's, and a request is sent when the one before has been picked:
 * else a decision would depend on how fast the machine is.
 */
class IdenticalPicksIT {

  private static final int UNDER_WAY = 8;
  private static final List<String> NAMES = List.of("a", "b", "c", "d");

  @TempDir private Path folder;

  /** What was decided of a request, and who got it. */
  private record Pick(
      String endpoint, String target, int matchedBlocks, int promptTokens, int cachedTokens) {}

  /** A way to ask. */
  private enum Way {
    GATEWAY,
    ENVOY
  }

  @ParameterizedTest
  @ValueSource(strings = {"cost", "weighted"})
  void oneAfterTheOther(String profile) throws Exception {
    List<Asked> trace = RecordedTrace.committed().subList(0, 150);
    List<Pick> picks = served(Way.GATEWAY, profile, trace, 1);
    assertThat(served(Way.ENVOY, profile, trace, 1)).isEqualTo(picks);
    assertTelling(picks, trace);
    assertThat(served(Way.GATEWAY, profile, trace, 2)).as("of other seeds").isNotEqualTo(picks);
  }

  @ParameterizedTest
  @ValueSource(strings = {"cost", "weighted"})
  void withSeveralUnderWay(String profile) throws Exception {
    List<Asked> trace = RecordedTrace.committed();
    List<Pick> picks = held(Way.GATEWAY, profile, trace, 1);
    assertThat(held(Way.ENVOY, profile, trace, 1)).isEqualTo(picks);
    assertTelling(picks, trace);
    assertThat(picks).extracting(Pick::endpoint).contains("a", "b", "c", "d");
    assertThat(held(Way.GATEWAY, profile, trace, 2)).as("of other seeds").isNotEqualTo(picks);
  }

  /** The public file, where somebody has it; see docs/traces.md. */
  @Test
  @EnabledIfSystemProperty(named = "fairlead.traces", matches = ".+")
  void ofAPublicTrace() throws Exception {
    List<Asked> trace =
        RecordedTrace.read(
            Path.of(System.getProperty("fairlead.traces"), "mooncake-conversation.jsonl"), 500);
    List<Pick> picks = held(Way.GATEWAY, "cost", trace, 1);
    assertThat(held(Way.ENVOY, "cost", trace, 1)).isEqualTo(picks);
    assertTelling(picks, trace);
  }

  /** Else two lists that are equal would show little. */
  private static void assertTelling(List<Pick> picks, List<Asked> trace) {
    assertThat(picks).hasSameSizeAs(trace);
    assertThat(picks).filteredOn(pick -> pick.cachedTokens() > 0).hasSizeGreaterThan(20);
    assertThat(picks).extracting(Pick::target).contains("llama-v1", "llama-v2");
    System.out.printf(
        "%d picks the same through both frontends, %d of them with cached tokens%n",
        picks.size(), picks.stream().filter(pick -> pick.cachedTokens() > 0).count());
  }

  /** In front of model server stubs, each request when the one before has its answer. */
  private List<Pick> served(Way way, String profile, List<Asked> trace, long seed)
      throws Exception {
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    List<ModelServer> stubs =
        NAMES.stream()
            .map(
                name ->
                    ModelServerConfig.builder(name, "llama-v1", "llama-v2")
                        .instant()
                        .promptTokensDetails(true)
                        .build())
            .map(config -> ModelServer.start(config, loops))
            .toList();
    List<EndpointSpec> specs =
        stubs.stream()
            .map(
                stub ->
                    TestPool.endpoint(stub.config().name(), "127.0.0.1", stub.address().getPort()))
            .toList();
    try (Run run = new Run(way, profile, specs, seed);
        RawHttp client = RawHttp.connect(run.port)) {
      for (Asked asked : trace) {
        run.send(client, asked);
        run.picked();
        RawHttp.Message answer = client.read();
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        run.ended();
        String pick = run.picks.getLast().endpoint();
        assertThat(answer.header("x-stub-endpoint")).as("who answered").isEqualTo(pick);
      }
      return List.copyOf(run.picks);
    } finally {
      stubs.forEach(ModelServer::close);
      loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  /** A request that its server holds. */
  private record Held(RawHttp client, CountDownLatch answer) {}

  /**
   * In front of servers that hold their answers: as many are under way at a time, the oldest is
   * answered first, and servers tell how many they have.
   */
  private List<Pick> held(Way way, String profile, List<Asked> trace, long seed) throws Exception {
    BlockingQueue<CountDownLatch> arrived = new LinkedBlockingQueue<>();
    List<RawBackend> backends = new ArrayList<>();
    for (String name : NAMES) {
      backends.add(
          new RawBackend(
              name,
              (connection, request) -> {
                CountDownLatch goOn = new CountDownLatch(1);
                arrived.add(goOn);
                goOn.await();
                answer(connection, request);
              }));
    }
    Deque<Held> underWay = new ArrayDeque<>();
    Deque<RawHttp> idle = new ArrayDeque<>();
    List<EndpointSpec> specs = backends.stream().map(RawBackend::spec).toList();
    try (Run run = new Run(way, profile, specs, seed)) {
      for (int i = 0; i < UNDER_WAY; i++) {
        idle.add(RawHttp.connect(run.port));
      }
      for (Asked asked : trace) {
        if (idle.isEmpty()) {
          answerOldest(run, underWay, idle);
        }
        RawHttp client = idle.remove();
        run.scrape();
        run.send(client, asked);
        run.picked();
        underWay.add(new Held(client, taken(arrived)));
      }
      while (!underWay.isEmpty()) {
        answerOldest(run, underWay, idle);
      }
      for (RawHttp client : idle) {
        client.close();
      }
      return List.copyOf(run.picks);
    } finally {
      for (RawBackend backend : backends) {
        backend.close();
      }
    }
  }

  private static void answerOldest(Run run, Deque<Held> underWay, Deque<RawHttp> idle)
      throws Exception {
    Held oldest = underWay.remove();
    oldest.answer().countDown();
    assertThat(oldest.client().read().status()).isEqualTo(200);
    run.ended();
    idle.add(oldest.client());
  }

  private static void answer(RawHttp connection, RawHttp.Message request) throws IOException {
    String usage =
        "\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":20}"
            .formatted(request.body().length / 3);
    if (request.text().contains("\"stream\":true")) {
      connection.send(
          "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
      connection.chunk("data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n");
      connection.chunk("data: {\"model\":\"m\",\"choices\":[]," + usage + "}\n\n");
      connection.chunk("data: [DONE]\n\n");
      connection.chunk("");
    } else {
      connection.respond(200, "content-type: application/json\r\n", "{" + usage + "}");
    }
  }

  private static <T> T taken(BlockingQueue<T> queue) throws InterruptedException {
    T next = queue.poll(20, TimeUnit.SECONDS);
    if (next == null) {
      throw new AssertionError("nothing came");
    }
    return next;
  }

  /** A fresh picker behind one of the frontends. */
  private final class Run implements RequestObserver, AutoCloseable {

    final List<Pick> picks = new ArrayList<>();
    private final BlockingQueue<Pick> picked = new LinkedBlockingQueue<>();
    private final BlockingQueue<Outcome> ended = new LinkedBlockingQueue<>();
    private final AtomicLong clock = new AtomicLong(1);
    private final AtomicLong seeds;
    private final EventLoopGroup loops = Transport.group("picks", 2);
    private final BodyBudget bodies = BodyBudget.ofHeap();
    private final PoolLoop pool = new PoolLoop(new PoolCore(), loops.next(), clock::get, this);
    private final List<EndpointSpec> specs;
    private final @Nullable Gateway gateway;
    private final @Nullable ExtProcServer picker;
    private final @Nullable Envoy envoy;

    /** Where clients ask. */
    final int port;

    Run(Way way, String profile, List<EndpointSpec> specs, long seed) throws Exception {
      this.specs = specs;
      seeds = new AtomicLong(seed << 32);
      pool.configure(new ConfigCompiler(List.of()).compile(config(profile))).sync();
      pool.endpoints(specs).sync();
      if (way == Way.GATEWAY) {
        gateway =
            Gateway.start(
                GatewayConfig.on("127.0.0.1", 0),
                pool,
                bodies,
                loops,
                () -> true,
                List::of,
                this::seed);
        gateway.retain(specs);
        port = gateway.port();
        picker = null;
        envoy = null;
      } else {
        gateway = null;
        picker =
            ExtProcServer.start(
                new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.PlainText(), 32 << 20, false),
                pool,
                bodies,
                loops,
                new Health(),
                this::seed);
        envoy = Envoy.start(picker.port(), false, folder);
        port = envoy.url().getPort();
      }
    }

    private static PoolConfig config(String profile) {
      ModelConfig chat =
          new ModelConfig(
              "chat",
              Criticality.CRITICAL,
              List.of(new TargetModel("llama-v1", 1), new TargetModel("llama-v2", 1)));
      return new PoolConfig(
          "default",
          "pool",
          Map.of("app", "vllm"),
          List.of(8000),
          "http",
          List.of(chat),
          RequestsConfig.DEFAULT,
          new SchedulerConfig(List.of(), List.of(new ProfileConfig(profile, List.of())), null));
    }

    /** Well mixed bits of what was sent last. */
    private long seed() {
      long bits = seeds.get() * 0x9E3779B97F4A7C15L;
      return bits ^ (bits >>> 29);
    }

    void send(RawHttp client, Asked asked) throws IOException {
      clock.set(Math.max(clock.get(), asked.atNanos()));
      seeds.incrementAndGet();
      client.post("/v1/chat/completions", asked.body());
    }

    void picked() throws InterruptedException {
      picks.add(taken(picked));
    }

    void ended() throws InterruptedException {
      assertThat(taken(ended)).isEqualTo(Outcome.COMPLETED);
    }

    /** Hands in what servers would tell: what they have now. */
    void scrape() {
      var inFlight = pool.snapshot().syncUninterruptibly().getNow();
      for (EndpointSpec spec : specs) {
        int running =
            inFlight.stream()
                .filter(state -> state.name().equals(spec.name()))
                .mapToInt(EndpointSnapshot::inFlight)
                .sum();
        pool.scraped(
            spec,
            clock.get(),
            new EndpointMetrics(running / 3, running - running / 3, running / 10.0, 16, 1_000));
      }
      pool.active().syncUninterruptibly(); // after them
    }

    @Override
    public void sent(String model, Route route) {
      picked.add(
          new Pick(
              route.endpoint(),
              route.targetModel(),
              route.matchedBlocks(),
              route.promptTokens(),
              route.expectedCachedTokens()));
    }

    @Override
    public void ended(String model, Route route, Outcome outcome, Usage usage, long nanos) {
      ended.add(outcome);
    }

    @Override
    public void decided(long nanos) {}

    @Override
    public void sentAgain(String model, Route route, @Nullable Failure failure) {
      throw new IllegalStateException("sent again after " + failure);
    }

    @Override
    public void firstToken(String model, Route route, long nanos) {}

    @Override
    public void rejected(String model, Rejection rejection) {
      throw new IllegalStateException("rejected: " + rejection);
    }

    @Override
    public void close() {
      await().until(() -> pool.active().syncUninterruptibly().getNow() == 0);
      if (envoy != null) {
        envoy.close();
      }
      if (picker != null) {
        picker.close();
      }
      if (gateway != null) {
        gateway.drain(Duration.ZERO, Duration.ZERO).syncUninterruptibly();
      }
      loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }
}
