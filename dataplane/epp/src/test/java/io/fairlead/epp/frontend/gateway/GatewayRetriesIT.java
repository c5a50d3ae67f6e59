package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How often a request is sent, and where, when endpoints break. */
@ExtendWith(NoLeaks.class)
class GatewayRetriesIT {

  private final AtomicReference<RawBackend.Script> script =
      new AtomicReference<>(GatewayRetriesIT::ok);

  private static void ok(RawHttp connection, RawHttp.Message request) throws IOException {
    connection.respond(200, "", "{}");
  }

  private RawBackend backend(String name) throws IOException {
    return new RawBackend(name, (connection, request) -> script.get().serve(connection, request));
  }

  /** One for the idle connection that broke, one afresh, one on the next endpoint. */
  @Test
  void aRequestIsSentThreeTimesAtMost() throws Exception {
    RawBackend a = backend("a");
    RawBackend b = backend("b");
    try (Rig rig = new Rig(Rig.config(), a, b);
        RawHttp client = rig.connect()) {
      rig.warmUp(client);
      int connections = a.connections.get() + b.connections.get();
      script.set((connection, request) -> connection.reset());
      long begun = System.nanoTime();
      client.post(Rig.CHAT, Rig.BODY);

      assertThat(client.read().status()).isEqualTo(502);
      int sends = a.requests.size() + b.requests.size();
      // Where a second goes by before the reset is seen, the idle connection broke at work.
      boolean late = System.nanoTime() - begun >= 1_000_000_000;
      assertThat(sends).as("sends").isIn(late ? List.of(2, 3) : List.of(3));
      assertThat(a.requests).as("sends to one of them").hasSizeBetween(1, 2);
      assertThat(a.connections.get() + b.connections.get() - connections)
          .as("new connections: afresh, and to the next endpoint")
          .isEqualTo(sends - 1);
    }
  }

  /** The endpoint may have done the work, but the client has nothing of it. */
  @ParameterizedTest
  @CsvSource({
    "false,HTTP/1.1 200 O",
    "true,HTTP/1.1 200 O",
    "false,'HTTP/1.1 200 OK\r\nContent-',",
    "true,'HTTP/1.1 200 OK\r\nContent-',",
    "false,'HTTP/1.1 103 Early Hints\r\n\r\n',",
    "true,'HTTP/1.1 103 Early Hints\r\n\r\n',",
    "true,'so it goes\r\n\r\n',",
  })
  void aResponseThatBreaksInItsHeadIsAskedForOnceMore(boolean reused, String answer)
      throws Exception {
    RawBackend a = backend("a");
    RawBackend b = backend("b");
    try (Rig rig = new Rig(Rig.config(), a, b);
        RawHttp client = rig.connect()) {
      if (reused) {
        rig.warmUp(client);
      }
      script.set(
          (connection, request) -> {
            connection.send(answer);
            connection.close();
          });
      client.post(Rig.CHAT, Rig.BODY);

      RawHttp.Message response = client.read();
      assertThat(response.status()).isEqualTo(502);
      assertThat(response.header("x-fairlead-reject-reason")).isEqualTo("upstream_failed");
      assertThat(a.requests.size() + b.requests.size()).as("sends").isEqualTo(2);
      boolean aFirst = rig.events.contains("sent m a 1");
      rig.awaitEvents(
          aFirst ? "sent m a 1" : "sent m b 1",
          aFirst ? "sent m b 2 DIED" : "sent m a 2 DIED",
          "rejected m upstream_failed");

      script.set(GatewayRetriesIT::ok);
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).as("the client's connection is fine").isEqualTo(200);
    }
  }
}
