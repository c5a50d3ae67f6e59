package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.frontend.gateway.Gateway;
import io.fairlead.epp.frontend.gateway.GatewayConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Hundreds of clients that leave in one moment, as of an application that is restarted: servers are
 * told so, and nothing stays counted, charged or open.
 */
@ExtendWith(NoLeaks.class)
class BurstOfDisconnectsIT {

  private static final int CLIENTS = 500;
  private static final String BODY =
      "{\"model\":\"chat\",\"stream\":true,\"messages\":[{\"content\":\"%s\"}]}";
  private static final String EVENTS =
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  @TempDir private Path folder;

  private final EventLoopGroup loops = Transport.group("burst", 2);
  private final BodyBudget bodies = BodyBudget.ofHeap();
  private final List<RawBackend> backends = new ArrayList<>();

  /** Its servers answer probes: a slow machine keeps clients waiting for longer than a sick one. */
  private final TestPool pool =
      new TestPool(
          loops.next(),
          (probe, answer) -> {
            var _ = loops.next().submit(() -> answer.came(null));
          });

  private final AtomicInteger served = new AtomicInteger();

  /** Whether servers answer at once. */
  private final AtomicBoolean calm = new AtomicBoolean();

  private void start(boolean flowControl) throws IOException {
    for (String name : List.of("a", "b", "c")) {
      backends.add(new RawBackend(name, RawHttp::read, this::serve));
    }
    pool.configured(
        new SchedulerConfig(
            List.of(), List.of(), null, Map.of("flowControl", flowControl), null, null, List.of()));
    pool.endpoints(backends.stream().map(RawBackend::spec).toArray(EndpointSpec[]::new));
    pool.loop.start();
  }

  @AfterEach
  void stop() throws IOException {
    for (RawBackend backend : backends) {
      backend.close();
    }
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  /** Half of the answers have begun. */
  private void serve(RawHttp connection, RawHttp.Message request) throws Exception {
    if (calm.get()) {
      connection.respond(200, "content-type: application/json\r\n", "{}");
      return;
    }
    if (served.getAndIncrement() % 2 == 0) {
      connection.send(EVENTS);
      connection.chunk("data: {}\n\n");
    }
    connection.closed();
    throw new EOFException("its client is gone");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void throughTheGateway(boolean flowControl) throws Exception {
    start(flowControl);
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
      leaveAtOnce(gateway.port());
      await().until(() -> gateway.connections() == 0);
    } finally {
      gateway.drain(Duration.ZERO, Duration.ZERO).syncUninterruptibly();
    }
  }

  @Test
  void throughEnvoy() throws Exception {
    start(false);
    try (ExtProcServer picker =
            ExtProcServer.start(
                new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.PlainText(), 1 << 20, false),
                pool.loop,
                bodies,
                loops,
                new Health());
        Envoy envoy = Envoy.start(picker.port(), false, folder)) {
      leaveAtOnce(envoy.url().getPort());
      await().until(() -> picker.counters().active() == 0);
      assertThat(picker.counters().failures()).isZero();
      assertThat(picker.counters().protocolErrors()).isZero();
    }
  }

  private void leaveAtOnce(int port) throws IOException {
    List<RawHttp> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      RawHttp client = RawHttp.connect(port);
      clients.add(client);
      client.post("/v1/chat/completions", BODY.formatted("x".repeat(i % 10 == 0 ? 100_000 : i)));
    }
    await().until(() -> pool.active() == CLIENTS);
    await()
        .until(() -> backends.stream().mapToInt(b -> b.requests.size()).sum() == pool.inFlight());
    int sent = pool.inFlight();
    assertThat(sent).isPositive();

    for (int i = 0; i < CLIENTS; i++) {
      if (i % 2 == 0) {
        clients.get(i).reset();
      } else {
        clients.get(i).close();
      }
    }

    await().until(() -> pool.active() == 0);
    assertThat(pool.inFlight()).isZero();
    await().until(() -> bodies.used() == 0);
    assertThat(bodies.waiting()).isZero();
    await()
        .untilAsserted(
            () ->
                assertThat(backends.stream().mapToInt(b -> b.closed.get()).sum())
                    .as("requests that their servers know to be over")
                    .isGreaterThanOrEqualTo(sent));

    calm.set(true);
    try (RawHttp client = RawHttp.connect(port)) {
      client.post("/v1/chat/completions", BODY.formatted("x"));
      assertThat(client.read().status()).as("the next one").isEqualTo(200);
    }
  }
}
