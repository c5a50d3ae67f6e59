package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a client sends, and however it leaves: nothing stays behind, others are served. */
@ExtendWith(NoLeaks.class)
class GatewayGarbageIT {

  /** How a client goes. */
  enum Leaving {
    CLOSE,
    RESET,
    HALF_CLOSE
  }

  private static final Pattern STATUS_LINE = Pattern.compile("HTTP/1\\.1 \\d\\d\\d ");

  /** What a client may send; each is answered once at most. */
  private static final List<Function<Random, String>> PIECES =
      List.of(
          random -> post(Rig.BODY),
          random -> post("{\"model\":"),
          random -> chunked("5\r\n{\"mod\r\n15\r\nel\":\"m\",\"prompt\":\"p\"}\r\n0\r\n\r\n"),
          random -> chunked("zz\r\n{}\r\n0\r\n\r\n"),
          random -> chunked("5\r\n{}}}}}}}\r\n0\r\n\r\n"),
          random -> "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
          random -> "GET /readyz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
          random -> "HEAD /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
          random -> "PRI * HTTP/2.0\r\n\r\n",
          random ->
              "POST /nothing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n-\r\n",
          random -> "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
          random -> "no http at all\r\n\r\n",
          GatewayGarbageIT::noise);

  private static String post(String body) {
    return "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  private static String chunked(String body) {
    return "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        + body;
  }

  private static String noise(Random random) {
    byte[] bytes = new byte[random.nextInt(200)];
    random.nextBytes(bytes);
    return new String(bytes, ISO_8859_1);
  }

  private static void ok(RawHttp connection, RawHttp.Message request) throws IOException {
    connection.respond(200, "", "{\"choices\":[]}");
  }

  private static void leave(RawHttp client, Leaving how) throws IOException {
    switch (how) {
      case CLOSE -> client.close();
      case RESET -> client.reset();
      case HALF_CLOSE -> client.socket.shutdownOutput();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void anyStreamOfRequestsAndGarbage(long seed) throws Exception {
    Random random = new Random(seed);
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", GatewayGarbageIT::ok));
        RawHttp other = rig.connect()) {
      for (int round = 0; round < 50; round++) {
        String what = "seed " + seed + " round " + round;
        int pieces = 1 + random.nextInt(4);
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < pieces; i++) {
          all.append(PIECES.get(random.nextInt(PIECES.size())).apply(random));
        }
        byte[] bytes = all.toString().getBytes(ISO_8859_1);
        int length = random.nextBoolean() ? bytes.length : random.nextInt(bytes.length + 1);
        Leaving how = Leaving.values()[random.nextInt(Leaving.values().length)];
        try (RawHttp client = rig.connect()) {
          client.send(Arrays.copyOf(bytes, length));
          leave(client, how);
          if (how == Leaving.HALF_CLOSE) {
            assertThat(STATUS_LINE.matcher(client.rest()).results().count())
                .as("answers, " + what)
                .isLessThanOrEqualTo(all.toString().split("HTTP/|\r\n\r\n", -1).length);
          }
        } catch (IOException e) {
          // cut off by the gateway, which may do that to garbage
        }
        await(what).until(() -> rig.pool.active().get() == 0);
        other.post(Rig.CHAT, Rig.BODY);
        assertThat(other.read().status()).as(what).isEqualTo(200);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"no http at all\r\n\r\n", "\u0000\u0001\u0002\r\n\r\n", "GET  \r\n\r\n"})
  void garbageAfterAPipelinedRequestGetsAnAnswerOfItsOwn(String garbage) throws Exception {
    try (Rig rig = new Rig(Rig.config(), new RawBackend("a", GatewayGarbageIT::ok));
        RawHttp client = rig.connect()) {
      client.send(post(Rig.BODY) + garbage);
      assertThat(client.read().status()).isEqualTo(200);
      RawHttp.Message second = client.read();
      assertThat(second.status()).isEqualTo(400);
      assertThat(second.header("connection")).isEqualTo("close");
      assertThat(client.rest()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aClientThatLeavesInMidBodyLeavesNothingBehind(Leaving how) throws Exception {
    RawBackend a = new RawBackend("a", GatewayGarbageIT::ok);
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect();
        RawHttp other = rig.connect()) {
      client.send(post(Rig.BODY).substring(0, post(Rig.BODY).length() - 10));
      leave(client, how);
      if (how == Leaving.HALF_CLOSE) {
        assertThat(client.closed()).isTrue();
      }
      other.post(Rig.CHAT, Rig.BODY);
      assertThat(other.read().status()).isEqualTo(200);
      rig.awaitEvents("sent m a 1", "ended completed -1/-1");
      assertThat(a.requests).as("of the other client").hasSize(1);
    }
  }

  /** One that closes its half can't be told from one that is gone before it reads. */
  @ParameterizedTest
  @EnumSource
  void aClientThatLeavesWhileItIsServedCancelsItsRequest(Leaving how) throws Exception {
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.closed();
              throw new EOFException("closed by the gateway");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      await().untilAsserted(() -> assertThat(a.requests).hasSize(1));
      leave(client, how);
      rig.awaitEvents("sent m a 1", "ended disconnected -1/-1");
      await().untilAsserted(() -> assertThat(a.closed).hasValue(1));
    }
  }

  @Test
  void aResponseShortOfItsLengthIsNotMadeToLookWhole() throws Exception {
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
              connection.close();
            });
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.readHead().header("content-length")).isEqualTo("10");
      assertThat(client.rest()).isEqualTo("half");
      rig.awaitEvents("sent m a 1", "ended failed -1/-1");
    }
  }

  @Test
  void aResponseThatSwitchesProtocolsIsAFailedOne() throws Exception {
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n");
              connection.closed();
              throw new EOFException("closed by the gateway");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(502);
      assertThat(a.requests).hasSize(1);
      client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().status()).as("after one answer").isEqualTo(200);
    }
  }
}
