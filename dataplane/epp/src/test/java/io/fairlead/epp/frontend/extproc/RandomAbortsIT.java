package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import io.fairlead.core.EndpointSpec;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.frontend.gateway.Gateway;
import io.fairlead.epp.frontend.gateway.GatewayConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.Http2Client;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.transport.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Error;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Clients and servers that leave at any moment, drawn from a seed, through each frontend: nothing
 * stays counted, charged or open. {@code ./hack/load aborts} runs it with a million requests.
 */
@ExtendWith(NoLeaks.class)
class RandomAbortsIT {

  private static final int REQUESTS = Integer.getInteger("fairlead.stress.aborts", 5_000);
  private static final long SEED = Long.getLong("fairlead.stress.seed", 1);
  private static final int CLIENTS = 16;

  /** Of a connection over HTTP/2, on average. */
  private static final int STREAMS = 5;

  /** A connection over HTTP/2 takes as long as so many requests over HTTP/1.1. */
  private static final int HTTP2_COST = 25;

  private static final Stage[] HTTP2_STAGES = {
    Stage.AFTER_HEAD, Stage.IN_BODY, Stage.SENT, Stage.IN_ANSWER, Stage.NEVER
  };

  /** Buffers that connections keep for their next use may come to so much more. */
  private static final long KEPT_BYTES = 32 << 20;

  private static final String EVENTS =
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  /** What the threads of the side that is tested are named by. */
  private static final String LOOPS = "aborts";

  @TempDir private Path folder;

  private final EventLoopGroup loops = Transport.group(LOOPS, 2);
  private final EventLoopGroup clientLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final BodyBudget bodies = BodyBudget.ofHeap();
  private final Map<Stage, LongAdder> left = new EnumMap<>(Stage.class);
  private final Map<String, LongAdder> answers = new ConcurrentHashMap<>();
  private final List<Throwable> surprises = new CopyOnWriteArrayList<>();
  private final ListAppender<ILoggingEvent> unhandled = new ListAppender<>();
  private final List<RawBackend> backends = new ArrayList<>();
  private final Logger pipelines =
      (Logger) LoggerFactory.getLogger("io.netty.channel.DefaultChannelPipeline");
  private TestPool pool;

  /** One client of many. */
  private interface Client {
    void ask(int port, int number);
  }

  /** When a client leaves. */
  private enum Stage {
    CONNECTED,
    IN_HEAD,
    AFTER_HEAD,
    IN_BODY,
    SENT,
    IN_ANSWER_HEAD,
    IN_ANSWER,
    NEVER
  }

  @BeforeEach
  void start() throws IOException {
    for (Stage stage : Stage.values()) {
      left.put(stage, new LongAdder());
    }
    for (String name : List.of("a", "b", "c")) {
      backends.add(new RawBackend(name, RawHttp::read, this::serve));
    }
    pool = new TestPool(loops.next()).configured();
    pool.endpoints(backends.stream().map(RawBackend::spec).toArray(EndpointSpec[]::new));
    pool.loop.start();
    unhandled.start();
    pipelines.addAppender(unhandled);
  }

  @AfterEach
  void stop() throws IOException {
    pipelines.detachAppender(unhandled);
    for (RawBackend backend : backends) {
      backend.close();
    }
    clientLoops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  /** What a server does is in the request: one in ten breaks off somewhere. */
  private void serve(RawHttp connection, RawHttp.Message request) throws Exception {
    forget();
    switch (request.header("x-server")) {
      case "resets" -> connection.reset();
      case "closes" -> connection.close();
      case "fails" -> connection.respond(500, "", "");
      case "breaks-off" -> {
        connection.send(EVENTS);
        connection.chunk("data: {\"model\":\"lla");
        connection.reset();
      }
      case "streams" -> {
        connection.send(EVENTS);
        for (int i = 0; i < 5; i++) {
          connection.chunk("data: {\"model\":\"llama-v2\",\"usage\":{\"prompt_tokens\":9}}\n\n");
        }
        connection.chunk("data: [DONE]\n\n");
        connection.chunk("");
      }
      default -> connection.respond(200, "content-type: application/json\r\n", "{}");
    }
  }

  /** A million of them would fill the heap of the test. */
  private void forget() {
    backends.forEach(backend -> backend.requests.clear());
    pool.events.clear();
    pool.usages.clear();
  }

  @Test
  void throughTheGateway() throws Exception {
    throughTheGateway(REQUESTS, this::ask, EnumSet.allOf(Stage.class));
  }

  /** Some streams are reset, others end with their connection. */
  @Test
  void throughTheGatewayOverHttp2() throws Exception {
    throughTheGateway(
        REQUESTS / HTTP2_COST, this::askOverHttp2, EnumSet.of(Stage.CONNECTED, HTTP2_STAGES));
  }

  private void throughTheGateway(int clients, Client client, Set<Stage> stages) throws Exception {
    Gateway gateway =
        Gateway.start(
            GatewayConfig.on("127.0.0.1", 0),
            pool.loop,
            bodies,
            loops,
            () -> true,
            List::of,
            new AtomicLong()::incrementAndGet);
    try {
      gateway.retain(backends.stream().map(RawBackend::spec).toList());
      abort(gateway.port(), clients, client, stages);
      await().until(() -> gateway.connections() == 0);
      nothingIsLeft();
    } finally {
      gateway.drain(Duration.ZERO, Duration.ZERO).syncUninterruptibly();
    }
  }

  @Test
  void throughEnvoy() throws Exception {
    try (ExtProcServer picker =
            ExtProcServer.start(
                new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.PlainText(), 1 << 20, false),
                pool.loop,
                bodies,
                loops,
                new Health());
        Envoy envoy = Envoy.start(picker.port(), false, folder)) {
      abort(envoy.url().getPort(), REQUESTS, this::ask, EnumSet.allOf(Stage.class));
      await().until(() -> picker.counters().active() == 0);
      assertThat(picker.counters().failures()).isZero();
      assertThat(picker.counters().protocolErrors()).isZero();
      nothingIsLeft();
      System.out.printf("%d streams of ext_proc%n", picker.counters().opened());
    }
  }

  private void abort(int port, int asked, Client client, Set<Stage> stages)
      throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    long[] early = {0};
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(
          Thread.startVirtualThread(
              () -> {
                for (int n = next.getAndIncrement(); n < asked; n = next.getAndIncrement()) {
                  if (n == asked / 5) {
                    early[0] = direct();
                  }
                  client.ask(port, n);
                }
              }));
    }
    for (Thread each : clients) {
      each.join();
    }
    await().until(() -> pool.active() == 0);
    System.out.printf(
        "seed %d, %d clients left %s; answers %s; direct memory %d KiB, then %d KiB%n",
        SEED, asked, left, answers, early[0] >> 10, direct() >> 10);
    assertThat(surprises).isEmpty();
    assertThat(
            unhandled.list.stream()
                .filter(RandomAbortsIT::isOurs)
                .map(RandomAbortsIT::told)
                .distinct())
        .as("lines of log for connections that break")
        .isEmpty();
    assertThat(stages)
        .allMatch(stage -> left.getOrDefault(stage, new LongAdder()).sum() > asked / 100);
    assertThat(answers.getOrDefault("200", new LongAdder()).sum())
        .as("whole answers to clients that stay: nine in ten of their servers give one")
        .isGreaterThan(left.getOrDefault(Stage.NEVER, new LongAdder()).sum() * 3 / 4);
    assertThat(direct()).isLessThan(early[0] + KEPT_BYTES);
  }

  /** The client's pipelines, which handle nothing, and what ends of tests before log here, too. */
  private static boolean isOurs(ILoggingEvent event) {
    return event.getThreadName().startsWith(LOOPS);
  }

  private static String told(ILoggingEvent event) {
    IThrowableProxy thrown = event.getThrowableProxy();
    return event.getThreadName()
        + ": "
        + event.getFormattedMessage()
        + (thrown == null ? "" : ThrowableProxyUtil.asString(thrown));
  }

  private static long direct() {
    return ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT).metric().usedDirectMemory();
  }

  private void nothingIsLeft() {
    assertThat(pool.inFlight()).isZero();
    await().until(() -> bodies.used() == 0);
    assertThat(bodies.waiting()).isZero();
  }

  private void ask(int port, int number) {
    SplittableRandom random = new SplittableRandom(SEED * 1_000_003 + number);
    Stage stage =
        random.nextInt(10) < 3
            ? Stage.NEVER
            : Stage.values()[random.nextInt(Stage.values().length - 1)];
    String body = body(random);
    String head =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            + "X-Server: %s\r\nContent-Length: %d\r\n\r\n".formatted(server(random), body.length());
    boolean reset = random.nextBoolean();
    leaves(stage);
    try (RawHttp client = RawHttp.connect(port)) {
      try {
        until(stage, client, head, body, random);
      } catch (IOException e) {
        count("cut"); // where its server left
      }
      if (reset) {
        client.reset();
      }
    } catch (IOException | RuntimeException e) {
      surprises.add(e);
    }
  }

  /** Leaves several streams of a connection, and then the connection. */
  private void askOverHttp2(int port, int number) {
    SplittableRandom random = new SplittableRandom(SEED * 1_000_003 + number);
    try (Http2Client client = new Http2Client(port, clientLoops)) {
      if (random.nextInt(20) == 0) {
        leaves(Stage.CONNECTED);
        return;
      }
      List<Stage> at = new ArrayList<>();
      List<Http2Client.Call> calls = new ArrayList<>();
      for (int i = 1 + random.nextInt(2 * STREAMS - 1); i > 0; i--) {
        Stage stage = HTTP2_STAGES[random.nextInt(HTTP2_STAGES.length)];
        leaves(stage);
        at.add(stage);
        calls.add(callUntil(stage, client, random));
      }
      for (int i = 0; i < calls.size(); i++) {
        Http2Client.Call call = calls.get(i);
        switch (at.get(i)) {
          case NEVER -> {
            int status = call.await().status;
            count(status == 0 ? "cut" : Integer.toString(status));
          }
          case IN_ANSWER -> call.awaitHead();
          default -> {}
        }
        if (at.get(i) != Stage.NEVER && random.nextBoolean()) {
          call.reset();
        }
      }
      if (random.nextBoolean()) {
        var _ = client.channel.writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
      }
    } catch (InterruptedException | RuntimeException e) {
      surprises.add(e);
    }
  }

  /** Sends as much of a request as a client does that leaves at this stage. */
  private static Http2Client.Call callUntil(
      Stage stage, Http2Client client, SplittableRandom random) throws InterruptedException {
    String body = body(random);
    HttpRequest head =
        new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/v1/chat/completions");
    head.headers()
        .set("host", "x")
        .set("content-type", "application/json")
        .set("x-server", server(random));
    return switch (stage) {
      case AFTER_HEAD -> client.call(head);
      case IN_BODY ->
          client.call(
              head,
              new DefaultHttpContent(bytes(body.substring(0, random.nextInt(body.length())))));
      default -> client.call(head, new DefaultLastHttpContent(bytes(body)));
    };
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
  }

  private void leaves(Stage stage) {
    left.getOrDefault(stage, new LongAdder()).increment();
  }

  private static String body(SplittableRandom random) {
    int size = random.nextInt(100) == 0 ? 300_000 : 1 + random.nextInt(3_000);
    return "{\"model\":\"chat\",\"stream\":true,\"messages\":[{\"content\":\"%s\"}]}"
        .formatted("x".repeat(size));
  }

  private static String server(SplittableRandom random) {
    return switch (random.nextInt(40)) {
      case 0 -> "resets";
      case 1 -> "closes";
      case 2 -> "fails";
      case 3 -> "breaks-off";
      default -> random.nextBoolean() ? "streams" : "answers";
    };
  }

  private void until(Stage stage, RawHttp client, String head, String body, SplittableRandom random)
      throws IOException {
    if (stage == Stage.CONNECTED) {
      return;
    }
    if (stage == Stage.IN_HEAD) {
      client.send(head.substring(0, random.nextInt(head.length())));
      return;
    }
    client.send(head);
    if (stage == Stage.AFTER_HEAD) {
      return;
    }
    if (stage == Stage.IN_BODY) {
      client.send(body.substring(0, random.nextInt(body.length())));
      return;
    }
    client.send(body);
    if (stage == Stage.SENT) {
      return;
    }
    if (stage == Stage.IN_ANSWER_HEAD) {
      client.read(1 + random.nextInt(8));
      return;
    }
    if (stage == Stage.IN_ANSWER) {
      RawHttp.Message answer = client.readHead();
      if (answer.header("transfer-encoding").equals("chunked")) {
        client.readChunk();
      }
      return;
    }
    count(Integer.toString(client.read().status()));
  }

  private void count(String answer) {
    answers.computeIfAbsent(answer, any -> new LongAdder()).increment();
  }
}
