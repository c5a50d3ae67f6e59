package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests whose bodies share too little memory. */
class GatewayMemoryIT {

  private static final int LARGE = 3 << 20;
  private static final String CHUNKED =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  private final CountDownLatch answer = new CountDownLatch(1);

  private static BodyBudget budget(Duration patience) {
    return new BodyBudget(4 << 20, patience);
  }

  private static byte[] body(int length) {
    String begins = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"";
    StringBuilder text = new StringBuilder(length).append(begins);
    for (int i = 0; text.length() < length - 4; i++) {
      text.append((char) ('a' + i % 26));
    }
    return text.append("\"}]}").toString().getBytes(US_ASCII);
  }

  private RawBackend backend() throws IOException {
    return new RawBackend(
        "a",
        (connection, request) -> {
          if (request.body().length == LARGE) {
            answer.await();
          }
          connection.respond(200, "", "{}");
        });
  }

  @Test
  void readsNoMoreThanThereIsRoomForAndServesAllInTheEnd() throws Exception {
    byte[] large = body(LARGE);
    RawBackend backend = backend();
    try (Rig rig = new Rig(budget(Duration.ofMinutes(5)), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect();
        RawHttp small = rig.connect()) {
      first.post(Rig.CHAT, large);
      await().until(() -> backend.requests.size() == 1);
      Thread writing = Thread.startVirtualThread(() -> post(second, large));
      await().until(() -> rig.bodies.waiting() == 1);

      small.post(Rig.CHAT, Rig.BODY);
      assertThat(small.read().status()).as("a small one waits for no large one").isEqualTo(200);
      assertThat(rig.bodies.used())
          .as("one, and a beginning of another")
          .isBetween((long) LARGE, LARGE + 100_000L);

      answer.countDown();
      assertThat(first.read().status()).isEqualTo(200);
      assertThat(second.read().status()).isEqualTo(200);
      writing.join();
      assertThat(backend.requests)
          .filteredOn(request -> request.body().length == LARGE)
          .hasSize(2)
          .allSatisfy(request -> assertThat(request.body()).isEqualTo(large));
    }
  }

  private static void post(RawHttp client, byte[] body) {
    try {
      client.post(Rig.CHAT, body);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** However much they say that they will send. */
  @ParameterizedTest
  @ValueSource(ints = {1 << 18, 1 << 25})
  void whoSendsNothingTakesNoRoomFromOthers(int announced) throws Exception {
    RawBackend backend = backend();
    List<RawHttp> silent = new ArrayList<>();
    try (Rig rig = new Rig(new BodyBudget(245 << 20, Duration.ofMinutes(5)), backend);
        RawHttp client = rig.connect()) {
      try {
        for (int i = 0; i < 250; i++) {
          RawHttp next = rig.connect();
          silent.add(next);
          next.send(
              "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                  .formatted(Rig.CHAT, announced));
        }
        await().until(() -> rig.bodies.used() == 250L * BodyBudget.BEGINNING);
        for (int length : new int[] {1_000, 200_000, 1_000_000}) {
          client.post(Rig.CHAT, body(length));
          assertThat(client.read().status()).as("of %s bytes", length).isEqualTo(200);
        }
        assertThat(rig.bodies.waits()).isZero();
      } finally {
        for (RawHttp each : silent) {
          each.close();
        }
      }
    }
  }

  @Test
  void refusesAfterAWhileAndKeepsTheConnection() throws Exception {
    byte[] large = body(LARGE);
    RawBackend backend = backend();
    try (Rig rig = new Rig(budget(Duration.ofMillis(200)), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      first.post(Rig.CHAT, large);
      await().until(() -> backend.requests.size() == 1);
      Thread writing = Thread.startVirtualThread(() -> post(second, large));
      RawHttp.Message refused = second.read();
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.header("x-fairlead-reject-reason")).isEqualTo("body_memory_full");
      assertThat(refused.header("retry-after")).isEqualTo("1");
      await()
          .untilAsserted(
              () -> assertThat(rig.events).contains("refused by gateway: body_memory_full"));
      writing.join();
      second.post(Rig.CHAT, Rig.BODY);
      assertThat(second.read().status()).isEqualTo(200);
      answer.countDown();
      assertThat(first.read().status()).isEqualTo(200);
    }
  }

  private static String withHead(int length) {
    return "POST %s HTTP/1.1\r\nHost: x\r\nX-Long: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
        .formatted(Rig.CHAT, "x".repeat(length), Rig.BODY.length(), Rig.BODY);
  }

  /** They lie in memory until their requests are over, however small the bodies are. */
  @Test
  void longHeadsFindNoMoreRoomThanThereIsAndShortOnesAlwaysDo() throws Exception {
    RawBackend backend =
        new RawBackend(
            "a",
            (connection, request) -> {
              if (!request.header("x-long").isEmpty()) {
                answer.await();
              }
              connection.respond(200, "", "{}");
            });
    List<RawHttp> clients = new ArrayList<>();
    try (Rig rig = new Rig(new BodyBudget(1 << 20, Duration.ofMinutes(5)), backend);
        RawHttp another = rig.connect();
        RawHttp small = rig.connect()) {
      for (int i = 0; i < 4; i++) { // of a quarter of that, for heads
        RawHttp client = rig.connect();
        clients.add(client);
        client.send(withHead(60_000));
      }
      await().until(() -> backend.requests.size() == 4);
      another.send(withHead(60_000));
      RawHttp.Message refused = another.read();
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.header("x-fairlead-reject-reason")).isEqualTo("body_memory_full");
      assertThat(refused.header("retry-after")).isEqualTo("1");
      small.post(Rig.CHAT, Rig.BODY);
      assertThat(small.read().status()).isEqualTo(200);

      answer.countDown();
      for (RawHttp client : clients) {
        RawHttp.Message served = client.read();
        assertThat(served.status()).isEqualTo(200);
        assertThat(served.header("connection")).as("what read its head goes").isEqualTo("close");
      }
      small.send(withHead(10_000));
      assertThat(small.read().status()).as("there is room again").isEqualTo(200);
      small.post(Rig.CHAT, Rig.BODY);
      assertThat(small.read().status()).isEqualTo(200);
    } finally {
      for (RawHttp client : clients) {
        client.close();
      }
    }
  }

  /** A connection that waits for its next request keeps nothing of the last one. */
  @Test
  void aHeadIsGivenBackWhenItsRequestIsAnsweredOrLeft() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(budget(Duration.ofMinutes(5)), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      first.send(withHead(10_000));
      assertThat(first.read().status()).isEqualTo(200);
      await().until(() -> rig.bodies.usedByHeads() == 0);
      second.send(withHead(10_000).replace("Content-Length: ", "Content-Length: 10"));
      await().until(() -> rig.bodies.usedByHeads() > 10_000);
      second.socket.close();
      await().until(() -> rig.bodies.usedByHeads() == 0);
      first.send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(first.read().status()).isEqualTo(404);
      assertThat(rig.bodies.usedByHeads()).isZero();
    }
  }

  @Test
  void letsGoOfWhatAClientThatLeftWasCharged() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(budget(Duration.ofMinutes(5)), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      String head =
          "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
              + "Content-Length: "
              + LARGE
              + "\r\n\r\n";
      String begins = head + "{" + " ".repeat(BodyBudget.BEGINNING);
      first.send(begins);
      await().until(() -> rig.bodies.used() == LARGE);
      second.send(begins);
      await().until(() -> rig.bodies.waiting() == 1);
      second.socket.close();
      await().until(() -> rig.bodies.waiting() == 0);
      first.socket.close();
      await().until(() -> rig.bodies.used() == 0);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 4096, 262_143, 262_144, 262_145, 524_288, 1_000_003, LARGE - 1})
  void sendsEveryByteOnInOnePieceOrInSlices(int length) throws Exception {
    byte[] sent = body(length);
    RawBackend backend = backend();
    try (Rig rig = new Rig(budget(Duration.ofMinutes(5)), backend);
        RawHttp client = rig.connect()) {
      for (boolean chunked : new boolean[] {false, true}) {
        if (chunked) {
          client.send(CHUNKED);
          for (int at = 0; at < length; at += 50_000) {
            client.chunk(new String(sent, at, Math.min(50_000, length - at), US_ASCII));
          }
          client.chunk("");
        } else {
          client.post(Rig.CHAT, sent);
        }
        assertThat(client.read().status()).isEqualTo(200);
        assertThat(backend.requests.remove().body()).isEqualTo(sent);
      }
    }
  }
}
