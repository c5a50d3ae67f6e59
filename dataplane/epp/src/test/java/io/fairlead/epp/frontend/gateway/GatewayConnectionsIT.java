package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.PoolCore;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** How long connections live, on both sides of the gateway, and how old clients are served. */
@ExtendWith(NoLeaks.class)
@SuppressWarnings("NullAway.Init") // each test begins with serve
class GatewayConnectionsIT {

  private static final String CHAT = "/v1/chat/completions";
  private static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final String POST =
      "POST "
          + CHAT
          + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
          + BODY.length()
          + "\r\n\r\n";
  private static final Duration LONG = Duration.ofMinutes(5);

  /** Of those whose end is waited for. */
  private static final Duration SHORT = Duration.ofSeconds(2);

  private final EventLoopGroup group = Transport.group("test", 1);
  private final Queue<String> events = new ConcurrentLinkedQueue<>();
  private final Queue<String> answers = new ConcurrentLinkedQueue<>();
  private final PoolLoop pool =
      new PoolLoop(new PoolCore(), group.next(), System::nanoTime, new EventLog(events, answers));
  private RawBackend backend;
  private Gateway gateway;

  /** One endpoint that does as {@code script} says, behind a gateway of these idle times. */
  private void serve(Duration client, Duration toBackend, RawBackend.Script script)
      throws IOException {
    backend = new RawBackend("a", script);
    gateway = start(group, client, toBackend);
    // Nobody waits for an endpoint where the last one left.
    SchedulerConfig atOnce =
        new SchedulerConfig(
            List.of(), List.of(), null, Map.of("flowControl", false), null, null, List.of());
    PoolConfig config = new PoolConfig("n", "p", Map.of(), List.of(1), "http", List.of(), atOnce);
    pool.configure(new ConfigCompiler(List.of()).compile(config)).syncUninterruptibly();
    pool.endpoints(List.of(backend.spec())).syncUninterruptibly();
  }

  private Gateway start(EventLoopGroup loops, Duration client, Duration toBackend) {
    return Gateway.start(
        GatewayConfig.on("127.0.0.1", 0)
            .withClients(
                ClientBounds.DEFAULT.withIdle(client).withHead(client).withBody(client, 4_096))
            .withBackends(BackendBounds.DEFAULT.withIdle(toBackend)),
        pool,
        BodyBudget.ofHeap(),
        loops,
        () -> true,
        List::of,
        () -> 1);
  }

  @AfterEach
  void stop() throws IOException {
    gateway.drain(Duration.ZERO, Duration.ZERO).syncUninterruptibly();
    await().untilAsserted(() -> assertThat(pool.active().get()).isZero());
    backend.close();
    group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  private static void ok(RawHttp connection, RawHttp.Message request) throws IOException {
    connection.respond(200, "", "{}");
  }

  /** A client that has said this before its time begins. */
  private RawHttp connect(Rig.Words first) throws IOException, InterruptedException {
    return Rig.connect(gateway, group.next(), first);
  }

  private void post(RawHttp client) throws IOException {
    client.post(CHAT, BODY);
    assertThat(client.read().status()).isEqualTo(200);
  }

  @Test
  void closesABackendConnectionThatNobodyUses() throws Exception {
    serve(LONG, SHORT, GatewayConnectionsIT::ok);
    try (RawHttp client = RawHttp.connect(gateway.port())) {
      // Together: in between it is not idle for long, however slow the client is.
      client.send((POST + BODY).repeat(2));
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(backend.connections).hasValue(1);
      await().untilAsserted(() -> assertThat(backend.closed).hasValue(1));
      post(client);
      assertThat(backend.connections).hasValue(2);
    }
  }

  @Test
  void closesIdleConnectionsToAnEndpointThatLeft() throws Exception {
    serve(LONG, LONG, GatewayConnectionsIT::ok);
    try (RawHttp client = RawHttp.connect(gateway.port())) {
      post(client);
      gateway.retain(List.of(backend.spec()));
      post(client);
      assertThat(backend.connections).as("still a member").hasValue(1);

      gateway.retain(List.of());
      await().untilAsserted(() -> assertThat(backend.closed).hasValue(1));
    }
  }

  @Test
  void aStreamFromAnEndpointThatLeftIsFinishedAndThenItsConnectionClosed() throws Exception {
    CountDownLatch left = new CountDownLatch(1);
    serve(
        LONG,
        LONG,
        (connection, request) -> {
          connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
          connection.chunk("before");
          left.await();
          connection.chunk("after");
          connection.send("0\r\n\r\n");
        });
    try (RawHttp client = RawHttp.connect(gateway.port())) {
      client.post(CHAT, BODY);
      client.readHead();
      assertThat(client.readChunk()).isEqualTo("before");
      gateway.retain(List.of());
      pool.endpoints(List.of()).syncUninterruptibly();
      left.countDown();
      assertThat(client.readChunk()).isEqualTo("after");
      assertThat(client.readChunk()).isEmpty();
      await().untilAsserted(() -> assertThat(backend.closed).hasValue(1));

      client.post(CHAT, BODY);
      assertThat(client.read().status()).as("the client's connection is fine").isEqualTo(503);
    }
  }

  @Test
  void aClientOfHttp10GetsTheBodyUpToTheClose() throws Exception {
    serve(
        LONG,
        LONG,
        (connection, request) -> {
          connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
          connection.chunk("one ");
          connection.chunk("two");
          connection.send("0\r\n\r\n");
        });
    try (RawHttp client = RawHttp.connect(gateway.port())) {
      client.send(http10(""));
      RawHttp.Message head = client.readHead();
      assertThat(head.status()).isEqualTo(200);
      assertThat(head.header("transfer-encoding")).isEmpty();
      assertThat(head.header("connection")).isEqualTo("close");
      assertThat(client.rest()).isEqualTo("one two");
    }
    assertThat(backend.requests.remove().start()).endsWith(" HTTP/1.1");
  }

  @Test
  void aClientOfHttp10KeepsItsConnectionWhereItAsksAndTheLengthIsKnown() throws Exception {
    serve(LONG, LONG, GatewayConnectionsIT::ok);
    try (RawHttp client = RawHttp.connect(gateway.port())) {
      for (int i = 0; i < 2; i++) {
        client.send(http10("Connection: keep-alive\r\n"));
        RawHttp.Message answer = client.read();
        assertThat(answer.text()).isEqualTo("{}");
        assertThat(answer.header("connection")).isEqualTo("keep-alive");
      }
      client.send(http10(""));
      assertThat(client.read().header("connection")).isEqualTo("close");
      assertThat(client.closed()).isTrue();
    }
  }

  private static String http10(String headers) {
    return "POST "
        + CHAT
        + " HTTP/1.0\r\nContent-Type: application/json\r\n"
        + headers
        + "Content-Length: "
        + BODY.length()
        + "\r\n\r\n"
        + BODY;
  }

  @Test
  void aBodyThatStopsComingGets408() throws Exception {
    serve(SHORT, LONG, GatewayConnectionsIT::ok);
    try (RawHttp client = connect(sending -> sending.send(POST + "{"))) {
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(408);
      assertThat(answer.header("connection")).isEqualTo("close");
      assertThat(answer.text()).contains("\"code\":\"request_timeout\"");
      assertThat(client.closed()).isTrue();
    }
    assertThat(backend.connections).hasValue(0);
    await()
        .untilAsserted(
            () -> assertThat(events).containsExactly("refused by gateway: request_timeout"));
  }

  @Test
  void aClientThatAsksNothingIsClosed() throws Exception {
    serve(SHORT, LONG, GatewayConnectionsIT::ok);
    try (RawHttp fresh = RawHttp.connect(gateway.port());
        RawHttp used = connect(asking -> asking.post(CHAT, BODY))) {
      assertThat(used.read().status()).isEqualTo(200);
      assertThat(used.closed()).isTrue();
      assertThat(fresh.closed()).isTrue();
    }
  }

  /** Its loop is busy when all others are told of the end, and hears of it after that. */
  @Test
  void aConnectionThatIsTakenWhileTheGatewayEndsIsClosed() throws Exception {
    EventLoopGroup loops = Transport.group("test", 2);
    CountDownLatch end = new CountDownLatch(1);
    try {
      serve(LONG, LONG, GatewayConnectionsIT::ok);
      Gateway ending = start(loops, LONG, LONG);
      // It listens on the other one, and hands its connections to both by turns.
      SingleThreadIoEventLoop held = (SingleThreadIoEventLoop) loops.iterator().next();
      Rig.hold(held, end);
      List<RawHttp> clients = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        clients.add(RawHttp.connect(ending.port()));
      }
      await().until(() -> held.pendingTasks() > 0);
      Future<Boolean> drained = ending.drain(Duration.ZERO, LONG);
      end.countDown();
      for (RawHttp client : clients) {
        assertThat(client.closed()).isTrue();
        client.close();
      }
      assertThat(drained.syncUninterruptibly().getNow()).as("none had to be cut off").isTrue();
    } finally {
      end.countDown();
      loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
  }

  /** The client is silent while it waits: that must not count against it. */
  @Test
  void anAnswerMayTakeLongerThanTheClientMayBeIdle() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    serve(
        SHORT,
        LONG,
        (connection, request) -> {
          answer.await();
          ok(connection, request);
        });
    try (RawHttp client = connect(asking -> asking.post(CHAT, BODY));
        RawHttp idle = RawHttp.connect(gateway.port())) {
      assertThat(idle.closed()).as("the timeout has passed").isTrue();
      answer.countDown();
      assertThat(client.read().status()).isEqualTo(200);
    }
  }
}
