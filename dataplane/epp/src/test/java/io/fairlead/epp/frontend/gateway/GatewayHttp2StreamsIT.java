package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp2;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is wrong with one stream is that stream's matter: others have their answers. */
@ExtendWith(NoLeaks.class)
class GatewayHttp2StreamsIT {

  private final CountDownLatch go = new CountDownLatch(1);

  private RawBackend backend() throws IOException {
    return new RawBackend(
        "a",
        (connection, request) -> {
          go.await();
          connection.respond(200, "", "{}");
        });
  }

  @Test
  void moreStreamsThanMayBeAreRefusedAndTheOthersAnswered() throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      List<Integer> good = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        good.add(client.post(Rig.CHAT, Rig.BODY));
      }
      List<Integer> refused = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        int stream = client.begin(Rig.CHAT);
        client.data(stream, Rig.BODY.substring(0, 9), false);
        client.data(stream, Rig.BODY.substring(9), true);
        refused.add(stream);
      }
      client.awaitEnds(50);
      assertThat(client.ends.keySet()).containsExactlyElementsOf(refused);
      assertThat(client.ends.values()).containsOnly("REFUSED_STREAM");
      await()
          .untilAsserted(
              () -> assertThat(rig.refusals()).hasSize(50).containsOnly("too_many_streams"));
      go.countDown();
      client.awaitEnds(150);
      assertThat(good).allMatch(stream -> "200".equals(client.ends.get(stream)));
      assertThat(client.goAways).isEmpty();

      int later = client.post(Rig.CHAT, Rig.BODY);
      client.awaitEnds(151);
      assertThat(client.ends).containsEntry(later, "200");
    }
  }

  /** What is wrong with a request. */
  enum Wrong {
    LINES_IN_A_VALUE("foo", "x\r\nevil: 1"),
    TRANSFER_ENCODING("transfer-encoding", "chunked"),
    CONNECTION("connection", "close"),
    UPPER_CASE("Foo", "x"),
    NO_NAME("", "x"),
    UNKNOWN_PSEUDO_HEADER(":foo", "x"),
    LENGTH_TOO_SMALL("content-length", "5"),
    LENGTH_TOO_LARGE("content-length", "5000"),
    OTHER_HOST("host", "other");

    private final String name;
    private final String value;

    Wrong(String name, String value) {
      this.name = name;
      this.value = value;
    }
  }

  @ParameterizedTest
  @EnumSource
  void aMalformedRequestIsResetAndTheOthersAnswered(Wrong wrong) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      List<Integer> good = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        good.add(client.post(Rig.CHAT, Rig.BODY));
      }
      await().until(() -> a.requests.size() == good.size());
      int bad = client.post(Rig.CHAT, Rig.BODY, wrong.name, wrong.value);
      client.awaitEnds(1);
      assertThat(client.ends).containsOnlyKeys(bad).containsEntry(bad, "PROTOCOL_ERROR");
      await().untilAsserted(() -> assertThat(rig.refusals()).containsExactly("invalid_http"));
      go.countDown();
      good.add(client.post(Rig.CHAT, Rig.BODY));
      client.awaitEnds(12);
      assertThat(good).allMatch(stream -> "200".equals(client.ends.get(stream)));
      assertThat(client.goAways).isEmpty();
      assertThat(a.requests).hasSize(good.size());
    }
  }

  /** However many come in one read: each is over before the next is decided. */
  @ParameterizedTest
  @EnumSource(names = {"LINES_IN_A_VALUE", "UPPER_CASE", "NO_NAME", "UNKNOWN_PSEUDO_HEADER"})
  void aRequestWithMalformedTrailersIsReset(Wrong wrong) throws Exception {
    RawBackend a = backend();
    go.countDown();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      int bad = client.begin(Rig.CHAT);
      client.data(bad, Rig.BODY, false);
      client.trailers(bad, wrong.name, wrong.value);
      int good = client.post(Rig.CHAT, Rig.BODY);
      client.awaitEnds(2);
      assertThat(client.ends).containsEntry(good, "200").containsEntry(bad, "PROTOCOL_ERROR");
      assertThat(a.requests).hasSize(1);
    }
  }

  @Test
  void whoResetsItsRequestsAtOnceTakesNoRoomFromOthers() throws Exception {
    go.countDown();
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      client.post(Rig.CHAT, Rig.BODY);
      client.awaitEnds(1);
      await().until(() -> rig.pool.active().get() == 0);
      rig.events.clear();
      // The loop reads when all of it is there: in one piece, and reads on until it has all.
      CountDownLatch release = rig.holdDecisions();
      client.hold();
      for (int i = 0; i < 50; i++) {
        int stream = client.post(Rig.CHAT, Rig.BODY);
        client.frame(Http2FrameTypes.RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8});
      }
      client.send();
      release.countDown();
      await()
          .untilAsserted(
              () -> assertThat(rig.events).filteredOn(e -> e.startsWith("ended ")).hasSize(50));
      int inFlight = 0;
      for (String event : rig.events) {
        inFlight += event.startsWith("sent ") ? 1 : event.startsWith("ended ") ? -1 : 0;
        assertThat(inFlight).isBetween(0, 1);
      }
    }
  }

  /** More than 64 KiB, and more than the codec takes. What is longer still it does not read on. */
  @ParameterizedTest
  @ValueSource(ints = {5, 10, 18, 20})
  void aHeadThatIsTooLongIsAnsweredAndTheOthersToo(int headers) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      int good = client.post(Rig.CHAT, Rig.BODY);
      String[] more = new String[2 * headers];
      for (int i = 0; i < more.length; i += 2) {
        more[i] = "foo" + i;
        more[i + 1] = "x".repeat(14_000);
      }
      int bad = client.post(Rig.CHAT, Rig.BODY, more);
      client.awaitEnds(1);
      assertThat(client.ends).containsOnlyKeys(bad).containsEntry(bad, "431");
      assertThat(client.bodies.get(bad))
          .contains("\"code\":\"header_fields_too_large\"", "\"type\":\"invalid_request_error\"");
      assertThat(Objects.requireNonNull(client.heads.get(bad)).get("x-fairlead-reject-reason"))
          .hasToString("header_fields_too_large");
      await()
          .untilAsserted(
              () -> assertThat(rig.refusals()).containsExactly("header_fields_too_large"));
      go.countDown();
      client.awaitEnds(2);
      assertThat(client.ends).containsEntry(good, "200");
      assertThat(client.goAways).isEmpty();
    }
  }

  @Test
  void aHeadOfTooManyFieldsIsAnsweredAndTheOthersToo() throws Exception {
    go.countDown();
    String[] more = new String[600];
    Arrays.fill(more, "a");
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      int bad = client.post(Rig.CHAT, Rig.BODY, more);
      int good = client.post(Rig.CHAT, Rig.BODY);
      client.awaitEnds(2);
      assertThat(client.ends).containsEntry(bad, "431").containsEntry(good, "200");
      assertThat(client.goAways).isEmpty();
      assertThat(rig.refusals()).containsExactly("header_fields_too_large");
    }
  }

  @Test
  void aPathThatIsTooLongIsToldSo() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      int bad = client.post(Rig.CHAT + "?" + "x".repeat(9_000), Rig.BODY);
      client.awaitEnds(1);
      assertThat(client.ends).containsEntry(bad, "414");
      assertThat(client.bodies.get(bad)).contains("\"code\":\"uri_too_long\"");
    }
  }

  @Test
  void aFloodOfMalformedRequestsEndsTheConnection() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      try {
        for (int i = 0; i < 3_000; i++) {
          client.post(Rig.CHAT, Rig.BODY, "foo", "\n");
        }
      } catch (IOException e) {
        // the connection has ended before all were sent
      }
      client.awaitClose();
      assertThat(client.ends.size()).isBetween(100, 1_001);
    }
  }

  /** As proxies pass them on that bring many clients' requests on one connection. */
  @Test
  void framesThatHoldNothingArePartOfARequest() throws Exception {
    go.countDown();
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      int first = client.begin(Rig.CHAT);
      int second = client.begin(Rig.CHAT);
      for (int i = 0; i < 500; i++) {
        client.data(first, "", false);
        client.data(second, "", false);
      }
      client.data(second, Rig.BODY, true);
      client.data(first, Rig.BODY, false);
      client.data(first, "", true);
      client.awaitEnds(2);
      assertThat(client.ends).containsEntry(first, "200").containsEntry(second, "200");
      assertThat(client.goAways).isEmpty();
    }
  }

  @Test
  void aFloodOfThemEndsTheConnection() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      int stream = client.begin(Rig.CHAT);
      client.hold();
      for (int i = 0; i < 10_001; i++) {
        client.data(stream, "", false);
      }
      client.send();
      client.awaitClose();
      assertThat(client.goAways).containsExactly("ENHANCE_YOUR_CALM");
    }
  }

  /** As for a server's late frames, but what is late of a client has a bound: these are resets. */
  @Test
  void aFloodOfFramesOfAStreamThatIsOverEndsTheConnection() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      int over = client.post("/nothing", "{}");
      client.awaitEnds(1);
      assertThat(client.ends).containsEntry(over, "404");
      client.hold();
      for (int i = 0; i < 1_001; i++) {
        client.data(over, "late", false);
      }
      client.send();
      client.awaitClose();
      assertThat(client.goAways).containsExactly("ENHANCE_YOUR_CALM");
    }
  }

  /** Of the connection, not of a stream. */
  @Test
  void aFrameThatBreaksTheConnectionEndsItAndSaysWhy() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      client.post(Rig.CHAT, Rig.BODY);
      client.frame(Http2FrameTypes.DATA, 0, 0, new byte[] {1});
      client.awaitClose();
      assertThat(client.goAways).containsExactly("PROTOCOL_ERROR");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/a b", Rig.CHAT + "?a b"})
  void aRequestWithoutAPathIsResetAndCounted(String path) throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      int bad = client.post(path, Rig.BODY);
      client.awaitEnds(1);
      assertThat(client.ends).containsEntry(bad, "PROTOCOL_ERROR");
      await().untilAsserted(() -> assertThat(rig.refusals()).containsExactly("invalid_http"));
    }
  }

  /** One that is refused has its answer, and counts once, whatever comes of its body. */
  @Test
  void aMalformedRestOfARefusedRequestCountsNoMore() throws Exception {
    try (Rig rig = new Rig(Rig.config(), backend());
        RawHttp2 client = new RawHttp2(rig.gateway.port())) {
      int bad = client.begin("/nothing", "content-length", "5");
      await().untilAsserted(() -> assertThat(rig.refusals()).containsExactly("unknown_path"));
      client.data(bad, "more than five", true);
      client.awaitEnds(1);
      assertThat(client.ends).containsEntry(bad, "404");
      int later = client.post("/nothing", "{}");
      client.awaitEnds(2);
      assertThat(client.ends).containsEntry(later, "404");
      assertThat(rig.refusals()).containsExactly("unknown_path", "unknown_path");
    }
  }
}
