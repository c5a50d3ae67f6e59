package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients that break the rules, leave early, or stop reading. */
@ExtendWith(NoLeaks.class)
class GatewayClientsIT {

  private static final String CHUNKED =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

  private static void ok(RawHttp connection, RawHttp.Message request) throws IOException {
    connection.respond(200, "", "{}");
  }

  @Test
  void aBadChunkAfterARefusalGetsNoSecondAnswer() throws Exception {
    try (Rig rig =
            new Rig(Rig.config().withMaxBodyBytes(30), new RawBackend("a", GatewayClientsIT::ok));
        RawHttp client = rig.connect()) {
      client.send(CHUNKED);
      client.chunk("below the limit");
      client.chunk("together above it");
      assertThat(client.read().status()).isEqualTo(413);
      client.send("no number\r\n");
      assertThat(client.rest()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST /nothing", "PUT /v1/models", "POST /v1/completions"})
  void aBadChunkInTheBodyOfARequestRefusedByItsHeadGetsNoSecondAnswer(String start)
      throws Exception {
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", GatewayClientsIT::ok));
        RawHttp client = rig.connect()) {
      client.send(start + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
      assertThat(client.read().status()).isBetween(400, 499);
      client.send("no number\r\n");
      assertThat(client.rest()).isEmpty();
    }
  }

  @Test
  void aBadChunkGetsOneAnswer() throws Exception {
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", GatewayClientsIT::ok));
        RawHttp client = rig.connect()) {
      client.send(CHUNKED);
      client.chunk("{");
      client.send("no number\r\n");
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(400);
      assertThat(answer.header("connection")).isEqualTo("close");
      assertThat(client.rest()).isEmpty();
    }
  }

  @Test
  void aResponseUnderWayHoldsNoRequestBody() throws Exception {
    int each = 8 << 20;
    int clients = 8;
    byte[] body = ("{\"model\":\"m\",\"prompt\":\"" + "x".repeat(each) + "\"}").getBytes(UTF_8);
    CountDownLatch finish = new CountDownLatch(1);
    RawBackend a =
        new RawBackend(
            "a",
            RawHttp::readWithoutBody,
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{");
              finish.await();
              connection.send("}");
            });
    try (Rig rig = new Rig(Rig.config(), a)) {
      List<RawHttp> asking = new ArrayList<>();
      long before = liveBytes();
      for (int i = 0; i < clients; i++) {
        RawHttp client = rig.connect();
        asking.add(client);
        client.post("/v1/completions", body);
        assertThat(client.readHead().status()).isEqualTo(200);
      }
      await().until(() -> liveBytes() - before < 2L * each);
      finish.countDown();
      for (RawHttp client : asking) {
        assertThat(client.read(2)).isEqualTo("{}");
        client.close();
      }
    }
  }

  @Test
  void aClientThatStopsReadingIsCutOffAndItsRequestCancelled() throws Exception {
    byte[] piece = new byte[64 << 10];
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + Long.MAX_VALUE + "\r\n\r\n");
              while (true) {
                connection.send(piece);
              }
            });
    GatewayConfig config =
        Rig.config().withClients(ClientBounds.DEFAULT.withStall(Duration.ofMillis(200)));
    try (Rig rig = new Rig(config, a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.readHead().status()).isEqualTo(200);

      rig.awaitEvents("sent m a 1", "ended disconnected -1/-1");
      await().untilAsserted(() -> assertThat(a.closed).hasValue(1));
      assertThat(rig.pool.active().get()).isZero();
      assertThatThrownBy(client::rest).isInstanceOf(IOException.class);
    }
  }

  @Test
  void chunksLeaveAsTheyCame() throws Exception {
    List<String> sent = new ArrayList<>();
    for (int length : new int[] {1, 100, 2_047, 2_049, 5_000, 9, 65_536, 30_000, 65_535, 3}) {
      sent.add("x".repeat(length));
    }
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send(
                  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
              for (String chunk : sent) {
                connection.chunk(chunk);
              }
              connection.chunk("");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      for (int i = 0; i < 20; i++) {
        client.post(Rig.CHAT, Rig.BODY);
        assertThat(client.readHead().status()).isEqualTo(200);
        List<String> got = new ArrayList<>();
        for (String chunk = client.readChunk(); !chunk.isEmpty(); chunk = client.readChunk()) {
          got.add(chunk);
        }
        assertThat(got)
            .extracting(String::length)
            .isEqualTo(sent.stream().map(String::length).toList());
        assertThat(got).isEqualTo(sent);
      }
    }
  }

  private static long liveBytes() {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    memory.gc();
    return memory.getHeapMemoryUsage().getUsed();
  }

  @Test
  void anErrorIsNoFirstToken() throws Exception {
    RawBackend a =
        new RawBackend("a", (connection, request) -> connection.respond(429, "", "{\"error\":1}"));
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(429);
      rig.awaitEvents("sent m a 1", "ended refused -1/-1");
    }
  }

  @Test
  void aListOfModelsIsNoRequestToOne() throws Exception {
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", GatewayClientsIT::ok));
        RawHttp client = rig.connect()) {
      client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().text()).isEqualTo("{\"object\":\"list\",\"data\":[]}");
      assertThat(rig.events).isEmpty();
    }
  }

  /** Its client could not tell the end from an answer that was lost. */
  @Test
  void aRequestThatHasBegunWhenTheGatewayEndsIsServed() throws Exception {
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", GatewayClientsIT::ok));
        RawHttp client = rig.connect()) {
      client.send("GET /version HTTP/1.1\r\n");
      await().until(() -> rig.gateway.connections() == 1);
      rig.settleSockets();
      Future<Boolean> drained = rig.gateway.drain(Duration.ZERO, Duration.ofMinutes(1));
      rig.settleSockets();
      client.send("Host: x\r\n\r\n");
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.header("connection")).isEqualTo("close");
      assertThat(drained.syncUninterruptibly().getNow()).as("none had to be cut off").isTrue();
    }
  }
}
