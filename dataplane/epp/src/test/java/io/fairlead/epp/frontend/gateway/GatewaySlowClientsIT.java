package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
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
    return new RawBackend("a", (connection, request) -> connection.respond(200, "", "{}"));
  }

  @Test
  void thousandsOfSlowClientsChangeNothingForOthers() throws Exception {
    int many = 2_000;
    GatewayConfig config =
        Rig.config().withClients(ClientBounds.DEFAULT.withHead(Duration.ofSeconds(3)));
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
      await().atMost(Duration.ofSeconds(30)).until(() -> rig.gateway.connections() <= many / 2 + 1);
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
        try (RawHttp third = rig.connect()) {
          third.post(Rig.CHAT, Rig.BODY);
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

  /** Its timer ends while it is served: the one beside it, which came later, shows that. */
  @Test
  void aConnectionIsClosedWhenIdleAfterALongAnswer() throws Exception {
    CountDownLatch answer = new CountDownLatch(1);
    RawBackend slow =
        new RawBackend(
            "a",
            (connection, request) -> {
              answer.await();
              connection.respond(200, "", "{}");
            });
    GatewayConfig config =
        Rig.config().withClients(ClientBounds.DEFAULT.withIdle(Duration.ofMillis(300)));
    try (Rig rig = new Rig(config, slow);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
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
