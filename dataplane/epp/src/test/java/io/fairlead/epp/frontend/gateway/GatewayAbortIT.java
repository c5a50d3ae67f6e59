package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.Http2Client;
import io.fairlead.epp.sockets.MedianTime;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A client or an endpoint that goes, at every stage of an answer. */
@ExtendWith(NoLeaks.class)
class GatewayAbortIT {

  private static final Duration SOON = Duration.ofMillis(250);
  private static final String HEAD =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

  /** How far an answer is. */
  enum Stage {
    NOTHING(""),
    PART_OF_THE_HEAD("HTTP/1.1 200 OK\r\nContent-Ty"),
    HEAD_ONLY(HEAD),
    SIZE_OF_A_CHUNK(HEAD + "9\r\n"),
    PART_OF_A_CHUNK(HEAD + "9\r\ndata"),
    A_CHUNK(HEAD + "9\r\ndata: 1\n\n\r\n"),
    PART_OF_THE_END(HEAD + "9\r\ndata: 1\n\n\r\n0\r\n");

    private final String sent;

    Stage(String sent) {
      this.sent = sent;
    }

    /** Whether the client can have anything of it. */
    boolean reachesTheClient() {
      return compareTo(A_CHUNK) >= 0;
    }
  }

  @ParameterizedTest
  @EnumSource
  void aClientThatLeavesIsSeenToHaveLeftByTheEndpoint(Stage stage) throws Exception {
    for (boolean reset : new boolean[] {false, true}) {
      assertThat(MedianTime.ofFive(SOON, () -> leavingTakes(stage, reset))).isLessThan(SOON);
    }
  }

  /** How long it takes until the endpoint sees that its client has left. */
  private static Duration leavingTakes(Stage stage, boolean reset) throws Exception {
    AtomicLong seen = new AtomicLong();
    AtomicLong sent = new AtomicLong();
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send(stage.sent);
              sent.set(System.nanoTime());
              connection.closed();
              seen.set(System.nanoTime());
              throw new EOFException("closed by the gateway");
            });
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      await().until(() -> sent.get() != 0);
      if (stage.reachesTheClient()) {
        assertThat(client.readHead().status()).isEqualTo(200);
      }
      long left = System.nanoTime();
      if (reset) {
        client.reset();
      } else {
        client.socket.close();
      }
      await().until(() -> seen.get() != 0);
      await().until(() -> rig.pool.active().get() == 0);
      return Duration.ofNanos(seen.get() - left);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "NOTHING,true", "NOTHING,false",
    "PART_OF_THE_HEAD,true", "PART_OF_THE_HEAD,false",
    "HEAD_ONLY,true", "HEAD_ONLY,false",
    "SIZE_OF_A_CHUNK,true", "SIZE_OF_A_CHUNK,false",
    "PART_OF_A_CHUNK,true", "PART_OF_A_CHUNK,false",
    "A_CHUNK,true", "A_CHUNK,false",
    "PART_OF_THE_END,true", "PART_OF_THE_END,false",
  })
  void anEndpointThatGoesLeavesAnErrorOrACutAndNoHang(Stage stage, boolean reset) throws Exception {
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send(stage.sent);
              if (reset) {
                connection.reset();
              } else {
                connection.close();
              }
            });
    try (Rig rig = new Rig(Rig.config(), a)) {
      try (RawHttp client = rig.connect()) {
        client.post(Rig.CHAT, Rig.BODY);
        RawHttp.Message head = client.readHead();
        if (head.status() == 200) {
          assertThat(endOf(client)).as("no proper end").doesNotEndWith("0\r\n\r\n");
        } else {
          assertThat(head.status()).isEqualTo(502);
        }
      }
      try (Http2Client client = new Http2Client(rig.gateway.port())) {
        Http2Client.Call call = client.call(Http2Client.post(Rig.CHAT, Rig.BODY)).await();
        if (call.status == 200) {
          assertThat(call.trailers).as("no proper end").isNull();
          assertThat(call.reset).isNotNull();
        } else {
          assertThat(call.status).isBetween(502, 503);
        }
      }
      await().until(() -> rig.pool.active().get() == 0);
    }
  }

  private static String endOf(RawHttp client) {
    try {
      return client.rest();
    } catch (IOException e) {
      return "cut off";
    }
  }
}
