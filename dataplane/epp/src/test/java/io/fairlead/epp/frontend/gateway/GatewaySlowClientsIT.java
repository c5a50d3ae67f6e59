package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Clients that are slow on purpose, and many: on sockets. */
@ExtendWith(NoLeaks.class)
class GatewaySlowClientsIT {

  private static final String HEAD =
      "POST "
          + Rig.CHAT
          + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ";

  private static RawBackend backend() throws IOException {
    return new RawBackend(
        "a", (connection, request) -> connection.respond(200, "", "{\"choices\":[]}"));
  }

  @Test
  void thousandsOfSlowClientsChangeNothingForOthers() throws Exception {
    int many = 2_000;
    // Longer than it takes to open all of them: the first must not be gone before the last is
    // there.
    GatewayConfig config =
        Rig.config()
            .withClients(
                ClientBounds.DEFAULT
                    .withHead(Duration.ofSeconds(30))
                    .withBody(Duration.ofMinutes(2), 4_096));
    List<RawHttp> slow = new ArrayList<>();
    try (Rig rig = new Rig(config, backend());
        RawHttp other = rig.connect()) {
      for (int i = 0; i < many; i++) {
        RawHttp client = rig.connect();
        client.send(i % 2 == 0 ? "POST /v1/chat" : HEAD + "1000\r\n\r\n{");
        slow.add(client);
      }
      await().until(() -> rig.gateway.connections() == many + 1);
      for (int i = 0; i < 200; i++) {
        other.post(Rig.CHAT, Rig.BODY);
        assertThat(other.read().status()).isEqualTo(200);
      }
      await().atMost(Duration.ofSeconds(60)).until(() -> rig.gateway.connections() <= many / 2 + 1);
      other.post(Rig.CHAT, Rig.BODY);
      assertThat(other.read().status()).isEqualTo(200);
    } finally {
      for (RawHttp client : slow) {
        client.close();
      }
    }
  }

  @Test
  void connectionsBeyondTheBoundAreTurnedAwayWithAReason() throws Exception {
    GatewayConfig config = Rig.config().withClients(ClientBounds.DEFAULT.withConnections(2));
    try (Rig rig = new Rig(config, backend());
        RawHttp first = rig.connect()) {
      try (RawHttp second = rig.connect()) {
        await().until(() -> rig.gateway.connections() == 2);
        // It is read for a second only after its answer: its request must be there by then.
        try (RawHttp third = rig.connect(client -> client.post(Rig.CHAT, Rig.BODY))) {
          RawHttp.Message answer = third.read();
          assertThat(answer.status()).isEqualTo(503);
          assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("too_many_connections");
          assertThat(answer.header("connection")).isEqualTo("close");
          assertThat(third.closed()).isTrue();
        }
        first.post(Rig.CHAT, Rig.BODY);
        assertThat(first.read().status()).as("those that are there are served").isEqualTo(200);
        second.post(Rig.CHAT, Rig.BODY);
        assertThat(second.read().status()).isEqualTo(200);
      }
      await().until(() -> rig.gateway.connections() == 1);
      try (RawHttp next = rig.connect()) {
        next.post(Rig.CHAT, Rig.BODY);
        assertThat(next.read().status()).isEqualTo(200);
      }
      assertThat(rig.events).containsOnlyOnce("refused by gateway: too_many_connections");
    }
  }

  /** An answer in plain text would be none, and one in TLS costs a handshake. */
  @Test
  void connectionsBeyondTheBoundAreClosedOverTls() throws Exception {
    GatewayConfig config =
        Rig.config()
            .withSecurity(new ServingSecurity.SelfSigned())
            .withClients(ClientBounds.DEFAULT.withConnections(1));
    try (Rig rig = new Rig(config, backend());
        RawHttp _ = rig.connect()) {
      await().until(() -> rig.gateway.connections() == 1);
      try (RawHttp second = rig.connect()) {
        assertThat(second.rest()).isEmpty();
      }
      rig.awaitEvents("refused by gateway: too_many_connections");
    }
  }

  /** More than the kernel takes of an answer on both of its ways. */
  private static final int LONG_ANSWER = 32 << 20;

  /**
   * Much longer than it takes to say that a client holds its answer up, also on a machine that is
   * busy: before that is said, it is the endpoint that is silent.
   */
  private static final Duration SILENCE = Duration.ofSeconds(4);

  private static final Duration LONGER = SILENCE.multipliedBy(2);

  /** Answers with so many bytes of those that it announces, and then nothing until the end. */
  private static RawBackend longAnswer(int bytes, CountDownLatch end) throws IOException {
    return new RawBackend(
        "a",
        (connection, request) -> {
          byte[] head =
              ("HTTP/1.1 200 OK\r\nContent-Length: " + LONG_ANSWER + "\r\n\r\n[")
                  .getBytes(StandardCharsets.US_ASCII);
          byte[] answer = Arrays.copyOf(head, head.length - 1 + LONG_ANSWER);
          Arrays.fill(answer, head.length, answer.length, (byte) ' ');
          answer[answer.length - 1] = ']';
          byte[] sent = Arrays.copyOf(answer, head.length - 1 + bytes);
          connection.send(sent); // at once: it is not to be silent
          end.await();
        });
  }

  private static Rig boundedInSilence(ClientBounds clients, RawBackend backend) {
    return new Rig(
        Rig.config().withClients(clients),
        Rig.requests(new TimeoutsConfig(null, SILENCE, null)),
        List.of(backend.spec()),
        backend);
  }

  private static RawHttp askWithoutReading(Rig rig) throws IOException {
    RawHttp client = rig.connect();
    client.socket.setReceiveBufferSize(64 << 10);
    client.post(Rig.CHAT, Rig.BODY);
    return client;
  }

  private static void awaitHeldUp(Rig rig) {
    await()
        .atMost(LONGER.multipliedBy(8))
        .during(LONGER)
        .untilAsserted(() -> assertThat(rig.events).containsExactly("sent m a 1"));
  }

  @Test
  void aClientThatReadsOnGetsAllHoweverLongItHeldItsAnswerUp() throws Exception {
    try (Rig rig =
            boundedInSilence(ClientBounds.DEFAULT, longAnswer(LONG_ANSWER, new CountDownLatch(0)));
        RawHttp client = askWithoutReading(rig)) {
      awaitHeldUp(rig);
      assertThat(client.readWithoutBody().status()).isEqualTo(200);
      rig.awaitEvents("sent m a 1", "ended completed -1/-1");
    }
  }

  @Test
  void anEndpointThatIsSilentOnceItsClientReadsOnIsNotWaitedFor() throws Exception {
    int begun = LONG_ANSWER - 1;
    CountDownLatch end = new CountDownLatch(1);
    try (Rig rig = boundedInSilence(ClientBounds.DEFAULT, longAnswer(begun, end));
        RawHttp client = askWithoutReading(rig)) {
      awaitHeldUp(rig);
      assertThat(client.readHead().status()).isEqualTo(200);
      client.skip(begun);
      assertThat(client.closed()).isTrue();
      rig.awaitEvents("sent m a 1", "rejected m silence_timeout");
      end.countDown();
    }
  }

  @Test
  void aClientThatNeverReadsIsCutOffAndNotItsEndpoint() throws Exception {
    ClientBounds clients = ClientBounds.DEFAULT.withStall(LONGER);
    try (Rig rig = boundedInSilence(clients, longAnswer(LONG_ANSWER, new CountDownLatch(0)));
        RawHttp _ = askWithoutReading(rig)) {
      rig.awaitEvents("sent m a 1", "ended disconnected -1/-1");
    }
  }

  /** Its timer ends while it is served: the one beside it, which came later, shows that. */
  @Test
  void aConnectionIsClosedWhenIdleAfterALongAnswer() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    RawBackend slow =
        new RawBackend(
            "a",
            (connection, request) -> {
              answer.await();
              connection.respond(200, "", "{\"choices\":[]}");
            });
    GatewayConfig config =
        Rig.config().withClients(ClientBounds.DEFAULT.withIdle(Duration.ofSeconds(2)));
    try (Rig rig = new Rig(config, slow);
        RawHttp client = rig.connect(asking -> asking.post(Rig.CHAT, Rig.BODY))) {
      await().until(() -> slow.requests.size() == 1);
      try (RawHttp idle = rig.connect()) {
        assertThat(idle.closed()).isTrue();
      }
      answer.countDown();
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(client.closed()).isTrue();
    }
  }
}
