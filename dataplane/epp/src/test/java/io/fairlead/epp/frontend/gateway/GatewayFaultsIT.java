package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.ClosedPort;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.netty.channel.epoll.Epoll;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients get, and endpoints see, of each fault that an endpoint can have. */
@ExtendWith(NoLeaks.class)
class GatewayFaultsIT {

  private static final String CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

  private static final String OK = "{\"choices\":[]}";

  /** Much longer than an answer takes on a machine that is busy. */
  private static final Duration SOON = Duration.ofSeconds(5);

  /** So many buffers that some are seen to be lost. */
  private static final int LOST = 30;

  private static void ok(RawHttp connection, RawHttp.Message request) throws IOException {
    connection.respond(200, "", OK);
  }

  /** What shows that the model is served there. */
  private static void tellsOfTokens(RawHttp connection, RawHttp.Message request)
      throws IOException {
    String answer = "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}";
    connection.respond(200, "Content-Type: application/json\r\n", answer);
  }

  /** Whoever is asked first has the fault, the others are well. */
  private static RawBackend[] firstFails(RawBackend.Script fault) throws IOException {
    AtomicBoolean done = new AtomicBoolean();
    RawBackend.Script script =
        (connection, request) -> {
          if (done.compareAndSet(false, true)) {
            fault.serve(connection, request);
          } else {
            ok(connection, request);
          }
        };
    return new RawBackend[] {new RawBackend("a", script), new RawBackend("b", script)};
  }

  private static RawBackend[] bothFail(RawBackend.Script fault) throws IOException {
    return new RawBackend[] {new RawBackend("a", fault), new RawBackend("b", fault)};
  }

  private static TimeoutsConfig timeouts(
      @Nullable Duration firstByte, @Nullable Duration silence, @Nullable Duration total) {
    return new TimeoutsConfig(firstByte, silence, total);
  }

  private static RawHttp.Message ask(Rig rig) throws IOException {
    try (RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      return client.read();
    }
  }

  private static int requests(RawBackend... backends) {
    int all = 0;
    for (RawBackend backend : backends) {
      all += backend.requests.size();
    }
    return all;
  }

  private static void awaitSentAgain(Rig rig, String failure) {
    await()
        .untilAsserted(
            () -> assertThat(rig.events).anyMatch(event -> event.endsWith(" 2 " + failure)));
  }

  @Test
  void aClosedPortCostsNothing() throws Exception {
    RawBackend good = new RawBackend("good", GatewayFaultsIT::ok);
    try (ClosedPort closed = new ClosedPort();
        Rig rig =
            Rig.leavingProbes(
                Rig.config(),
                List.of(
                    good.spec(),
                    new EndpointSpec("closed", "1", "127.0.0.1", closed.number(), Map.of())),
                good)) {
      for (int i = 0; i < 30; i++) {
        assertThat(ask(rig).status()).isEqualTo(200);
      }
      assertThat(rig.events.stream().filter(event -> event.endsWith(" closed 1")))
          .as("it is out once it has refused a connection")
          .hasSizeLessThanOrEqualTo(1);
      assertThat(good.requests).hasSize(30);
    }
  }

  @Test
  void aBlackHoleCostsTheTimeToConnectOnce() throws Exception {
    RawBackend good = new RawBackend("good", GatewayFaultsIT::ok);
    try (BlackHole hole = new BlackHole();
        Rig rig =
            Rig.leavingProbes(
                Rig.config().withBackends(Rig.config().backends().withConnect(SOON)),
                List.of(good.spec(), hole.spec()),
                good)) {
      for (int i = 0; i < 20; i++) {
        assertThat(ask(rig).status()).isEqualTo(200);
      }
      assertThat(good.requests).hasSize(20);
      assertThat(rig.events)
          .filteredOn(event -> event.contains("hole"))
          .as("sends into it")
          .hasSizeLessThanOrEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 503 X\r\nContent-Length: 4\r\n\r\nbusy",
        "HTTP/1.1 503 X\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbusy\r\n0\r\n\r\n",
        "HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 500 X\r\nConnection: close\r\n\r\n"
      })
  void anEndpointThatIsUnavailableIsLeftForAnother(String answer) throws Exception {
    Semaphore go = new Semaphore(0);
    CountDownLatch sent = new CountDownLatch(1);
    RawBackend[] backends =
        firstFails(
            (connection, request) -> {
              go.acquire();
              connection.send(answer);
              if (answer.contains("close")) {
                connection.close();
              }
              sent.countDown();
            });
    try (Rig rig = new Rig(Rig.config(), backends);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      await().until(() -> requests(backends) == 1);
      // Its end comes with its beginning: one that seems to have a body is another error.
      CountDownLatch held = rig.holdDecisions();
      go.release();
      sent.await();
      held.countDown();
      assertThat(client.read().status()).isEqualTo(200);
      awaitSentAgain(rig, "UNAVAILABLE");
      assertThat(requests(backends)).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 500 X\r\nContent-Length: 4\r\n\r\noops",
        "HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n4\r\noops\r\n0\r\n\r\n",
        "HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n", // and its body never comes
        "HTTP/1.1 501 X\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 504 X\r\nContent-Length: 0\r\n\r\n"
      })
  void anErrorIsTriedElsewhereOnce(String answer) throws Exception {
    RawBackend[] backends = firstFails((connection, request) -> connection.send(answer));
    try (Rig rig = new Rig(Rig.config(), backends)) {
      assertThat(ask(rig).status()).isEqualTo(200);
      awaitSentAgain(rig, "ERROR");
      assertThat(requests(backends)).isEqualTo(2);
    }
  }

  /** What no other endpoint does better is the client's to see, as it came. */
  @ParameterizedTest
  @ValueSource(ints = {0, 4, 400_000})
  void theLastErrorIsPassedAsItCame(int length) throws Exception {
    String body = "x".repeat(length);
    RawBackend[] backends =
        bothFail((connection, request) -> connection.respond(500, "X-Why: because\r\n", body));
    try (Rig rig = new Rig(Rig.config(), backends);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).as("%s %s", rig.events, answer).isEqualTo(500);
      assertThat(answer.header("x-why")).isEqualTo("because");
      assertThat(answer.header("x-fairlead-reject-reason")).isEmpty();
      assertThat(answer.text()).isEqualTo(body);
      assertThat(requests(backends)).isEqualTo(2);
      await().untilAsserted(() -> assertThat(rig.events).contains("ended failed -1/-1"));

      client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().status()).as("the client's connection is fine").isEqualTo(200);
    }
  }

  /**
   * Streams of a sick engine begin with 200 and end at once, with an error in an event: faster than
   * any that is well.
   */
  @Test
  void aServerWhoseStreamsAreErrorsIsOut() throws Exception {
    String error = "data: {\"error\":{\"message\":\"m\",\"code\":500}}\n\ndata: [DONE]\n\n";
    String events = "Content-Type: text/event-stream\r\n";
    RawBackend sick =
        new RawBackend("sick", (connection, request) -> connection.respond(200, events, error));
    RawBackend well = new RawBackend("well", GatewayFaultsIT::ok);
    List<EndpointSpec> both = List.of(sick.spec(), well.spec());
    try (Rig rig = Rig.leavingProbes(Rig.config(), both, sick, well)) {
      for (int i = 0; i < 100; i++) {
        RawHttp.Message answer = ask(rig);
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isIn(error, OK);
      }
      assertThat(sick.requests).hasSizeBetween(1, 10);
      assertThat(rig.events).contains("ended failed -1/-1");
    }
  }

  /** It answers at once, and would look idle all the time. */
  @ParameterizedTest
  @CsvSource({"404,refused", "429,refused", "400,invalid", "401,invalid", "301,invalid"})
  void aServerThatRefusesAllIsNotWhereMostGo(int status, String end) throws Exception {
    RawBackend sick =
        new RawBackend("sick", (connection, request) -> connection.respond(status, "", "{}"));
    RawBackend well = new RawBackend("well", GatewayFaultsIT::tellsOfTokens);
    try (Rig rig = new Rig(Rig.config(), sick, well)) {
      for (int i = 0; i < 200; i++) {
        assertThat(ask(rig).status()).isIn(200, status);
      }
      assertThat(sick.requests).hasSizeBetween(1, 40);
      assertThat(rig.events).contains("ended " + end + " -1/-1");
    }
  }

  /** Its client has made it up, or another server has it: the model is there all the same. */
  @Test
  void thatAnEarlierAnswerIsNotThereIsNoRefusal() throws Exception {
    RawBackend backend =
        new RawBackend("a", (connection, request) -> connection.respond(404, "", "{}"));
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp client = rig.connect()) {
      client.post(
          "/v1/responses", "{\"model\":\"m\",\"input\":\"x\",\"previous_response_id\":\"resp_1\"}");
      assertThat(client.read().status()).isEqualTo(404);
      await().until(() -> rig.events.stream().anyMatch(event -> event.startsWith("ended")));
      assertThat(rig.events).contains("ended invalid -1/-1");
    }
  }

  /** A sidecar that is set up wrongly, or a proxy that asks for a password: it looks fast, too. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 18\r\n\r\n<html>{\"a\"}</html>",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\r\nok"
      })
  void aServerWhoseAnswersAreNoneIsNotWhereMostGo(String none) throws Exception {
    RawBackend sick = new RawBackend("sick", (connection, request) -> connection.send(none));
    RawBackend well = new RawBackend("well", GatewayFaultsIT::tellsOfTokens);
    try (Rig rig = new Rig(Rig.config(), sick, well)) {
      long begun = System.nanoTime();
      for (int i = 0; i < 200; i++) {
        assertThat(ask(rig).status()).as("the answer passes").isIn(200, 204);
      }
      // The longer they take, the oftener it is tried.
      int tries = (int) Math.min((System.nanoTime() - begun) / 1e9, 12);
      assertThat(sick.requests).hasSizeBetween(1, 20 + tries);
      assertThat(rig.events).contains("ended refused -1/-1");
    }
  }

  /** It says that all is well, in the way that answers do. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "application/json|{}|refused",
        "application/json|null|refused",
        "application/json|{\"status\":\"ok\"}|refused",
        "application/json|{\"id\":\"x\",\"choices\":[{\"mess|failed",
        "text/event-stream|data: [DONE]~~|refused",
        "text/event-stream|data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}~~|failed",
      })
  void aServerWhoseAnswersHoldNoneIsNotWhereMostGo(String type, String none, String end)
      throws Exception {
    RawBackend sick =
        new RawBackend(
            "sick",
            (connection, request) ->
                connection.respond(200, "Content-Type: " + type + "\r\n", none.replace('~', '\n')));
    RawBackend well = new RawBackend("well", GatewayFaultsIT::tellsOfTokens);
    List<EndpointSpec> both = List.of(sick.spec(), well.spec());
    try (Rig rig = Rig.leavingProbes(Rig.config(), both, sick, well)) {
      long begun = System.nanoTime();
      for (int i = 0; i < 200; i++) {
        assertThat(ask(rig).status()).as("the answer passes").isEqualTo(200);
      }
      int tries = (int) Math.min((System.nanoTime() - begun) / 1e9, 12);
      assertThat(sick.requests).hasSizeBetween(1, 20 + tries);
      assertThat(rig.events).contains("ended " + end + " -1/-1");
    }
  }

  /** Nobody knows what they answer. */
  @Test
  void whatIsNoCompletionIsNotJudgedByItsAnswer() throws Exception {
    RawBackend a = new RawBackend("a", (connection, request) -> connection.respond(200, "", ""));
    try (Rig rig = new Rig(Rig.config(), a)) {
      try (RawHttp client = rig.connect()) {
        client.post("/pooling", Rig.BODY);
        assertThat(client.read().status()).isEqualTo(200);
      }
      await().untilAsserted(() -> assertThat(rig.events).contains("ended completed -1/-1"));
    }
  }

  @Test
  void anErrorThatIsCutOffIsCutOffForTheClientToo() throws Exception {
    RawBackend[] backends =
        bothFail(
            (connection, request) -> {
              connection.send("HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.chunk("half");
              connection.close();
            });
    try (Rig rig = new Rig(Rig.config(), backends);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      RawHttp.Message head = client.readHead();
      // As fast as the decision is, the end may be known before the answer is passed on.
      if (head.status() == 500) {
        assertThatThrownBy(client::readChunkToEnd).isInstanceOf(EOFException.class);
      } else {
        assertThat(head.status()).isEqualTo(502);
        assertThat(head.header("x-fairlead-reject-reason")).isEqualTo("upstream_failed");
      }
    }
  }

  /** Epoll tells of the end of a connection though nobody asks for more of it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        "HTTP/1.1 500 X\r\nContent-Length: 8\r\n\r\nhalf"
      })
  void anErrorThatBreaksBeforeItIsPassedOnLeavesNothing(String half) throws Exception {
    assumeTrue(Epoll.isAvailable());
    CountDownLatch asked = new CountDownLatch(LOST);
    Semaphore go = new Semaphore(0);
    RawBackend backend =
        new RawBackend(
            "a",
            (connection, request) -> {
              asked.countDown();
              go.acquire();
              connection.send(half);
              connection.close();
            });
    List<RawHttp> clients = new ArrayList<>();
    try (Rig rig = Rig.decidingApart(backend)) {
      for (int i = 0; i < LOST; i++) {
        RawHttp client = rig.connect();
        clients.add(client);
        client.post(Rig.CHAT, Rig.BODY);
      }
      asked.await();
      CountDownLatch held = rig.holdDecisions();
      go.release(LOST);
      await().until(() -> backend.closed.get() == LOST);
      rig.settleSockets();
      held.countDown();
      for (RawHttp client : clients) {
        RawHttp.Message answer = client.read();
        assertThat(answer.status()).isEqualTo(502);
        assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("upstream_failed");
      }
    } finally {
      for (RawHttp client : clients) {
        client.close();
      }
    }
  }

  @Test
  void anEndpointThatDiesOfAPromptTakesOneMoreWithItAtMost() throws Exception {
    RawBackend[] backends = {
      new RawBackend("a", (connection, request) -> connection.reset()),
      new RawBackend("b", (connection, request) -> connection.reset()),
      new RawBackend("c", (connection, request) -> connection.reset())
    };
    try (Rig rig = new Rig(Rig.config(), backends)) {
      RawHttp.Message answer = ask(rig);
      assertThat(answer.status()).isEqualTo(502);
      assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("upstream_failed");
      assertThat(requests(backends)).isEqualTo(2);
      awaitSentAgain(rig, "DIED");
    }
  }

  /** The head of a stream comes at once, long before its first token. */
  @Test
  void anEndpointThatDiesBetweenHeadAndFirstTokenIsLeftForAnother() throws Exception {
    RawBackend[] backends =
        firstFails(
            (connection, request) -> {
              connection.send(CHUNKED);
              connection.reset();
            });
    try (Rig rig = new Rig(Rig.config(), backends)) {
      assertThat(ask(rig).status()).isEqualTo(200);
      awaitSentAgain(rig, "DIED");
      assertThat(requests(backends)).isEqualTo(2);
    }
  }

  /** Such an answer ends with its connection, but not with one that is reset. */
  @Test
  void anAnswerWithoutALengthThatIsResetIsNotWhole() throws Exception {
    CountDownLatch passed = new CountDownLatch(1);
    RawBackend resetting =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhalf");
              passed.await();
              connection.reset();
            });
    try (Rig rig = new Rig(Rig.config(), resetting);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.readHead().status()).isEqualTo(200);
      assertThat(client.readChunk()).isEqualTo("half");
      passed.countDown();
      assertThatThrownBy(client::readChunk).isInstanceOf(IOException.class);
      rig.awaitEvents("sent m a 1", "ended failed -1/-1");
    }
  }

  /** It was at work on the request: the connection was not closed for being idle. */
  @Test
  void aReusedConnectionThatBreaksLateIsAFailure() throws Exception {
    RawBackend.Script ok = GatewayFaultsIT::ok;
    Switch faulty = new Switch(ok);
    RawBackend a = new RawBackend("a", faulty);
    RawBackend b = new RawBackend("b", faulty);
    try (Rig rig = new Rig(Rig.config(), a, b);
        RawHttp client = rig.connect()) {
      rig.warmUp(client);
      faulty.once(
          (connection, request) -> {
            long until = System.nanoTime() + Duration.ofMillis(1_100).toNanos();
            await().until(() -> System.nanoTime() - until > 0);
            connection.reset();
          });
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      awaitSentAgain(rig, "DIED");
      assertThat(requests(a, b)).isEqualTo(2);
    }
  }

  /** The connection broke because the endpoint went with the request: it is gone. */
  @Test
  void anEndpointThatIsGoneAfterItsConnectionBrokeHasDied() throws Exception {
    Switch faulty = new Switch(GatewayFaultsIT::ok);
    RawBackend a = new RawBackend("a", faulty);
    RawBackend b = new RawBackend("b", faulty);
    try (Rig rig = new Rig(Rig.config(), a, b);
        RawHttp client = rig.connect()) {
      rig.warmUp(client);
      faulty.once(
          (connection, request) -> {
            (a.requests.isEmpty() ? b : a).close();
            connection.reset();
          });
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      awaitSentAgain(rig, "DIED");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "HTTP/1.1 20", CHUNKED, "HTTP/1.1 103 Early Hints\r\n\r\n"})
  void whoSaysNothingInTimeIsLeftForAnother(String begun) throws Exception {
    RawBackend[] backends =
        firstFails(
            (connection, request) -> {
              connection.send(begun);
              connection.closed();
              throw new EOFException();
            });
    try (Rig rig = new Rig(timeouts(SOON, null, null), backends)) {
      assertThat(ask(rig).status()).isEqualTo(200);
      awaitSentAgain(rig, "null");
      await().untilAsserted(() -> assertThat(closed(backends)).as("abandoned").isPositive());
    }
  }

  /** As one does whose engine hangs behind a frontend that is well, and answers what probes ask. */
  @Test
  void whoSendsHeadsAloneIsOutSoonAndItsRequestsGoElsewhere() throws Exception {
    AtomicBoolean isSick = new AtomicBoolean();
    RawBackend sick =
        new RawBackend(
            "a",
            (connection, request) -> {
              if (isSick.get()) {
                connection.send(CHUNKED);
                connection.closed();
                throw new EOFException();
              }
              tellsOfTokens(connection, request);
            });
    RawBackend well = new RawBackend("b", GatewayFaultsIT::tellsOfTokens);
    String streamed = Rig.BODY.replace("{\"model\"", "{\"stream\":true,\"model\"");
    try (Rig rig = Rig.answeringProbes(sick, well);
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      Callable<Integer> client =
          () -> {
            try (RawHttp asking = rig.connect()) {
              asking.socket.setSoTimeout(0); // it waits to the end
              asking.post(Rig.CHAT, streamed);
              return asking.read().status();
            }
          };
      for (int i = 0; i < 80; i++) {
        assertThat(client.call()).isEqualTo(200);
      }
      isSick.set(true);
      List<Future<Integer>> all = new ArrayList<>();
      await()
          .atMost(Duration.ofSeconds(30))
          .pollInterval(Duration.ofMillis(50))
          .untilAsserted(
              () -> {
                all.add(clients.submit(client));
                assertThat(rig.pool.snapshot().get())
                    .anyMatch(
                        endpoint -> endpoint.health().reason().contains("heads without bodies"));
              });
      for (Future<Integer> each : all) {
        assertThat(each.get()).isEqualTo(200);
      }
      awaitSentAgain(rig, "null");
    }
  }

  @Test
  void whereNobodySaysAnythingTheClientHearsSo() throws Exception {
    RawBackend[] backends =
        bothFail(
            (connection, request) -> {
              connection.closed();
              throw new EOFException();
            });
    try (Rig rig = new Rig(timeouts(SOON, null, null), backends);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(504);
      assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("first_byte_timeout");
      assertThat(answer.text()).contains("\"code\":\"first_byte_timeout\"");
      await().untilAsserted(() -> assertThat(closed(backends)).as("abandoned").isEqualTo(2));
      assertThat(rig.events).contains("rejected m first_byte_timeout");

      client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.read().status()).as("the client's connection is fine").isEqualTo(200);
    }
  }

  @ParameterizedTest
  @CsvSource({"silence,silence_timeout", "total,timeout"})
  void anAnswerThatTakesTooLongIsBrokenOff(String which, String code) throws Exception {
    RawBackend a = new RawBackend("a", GatewayFaultsIT::dripOnce);
    TimeoutsConfig bound =
        which.equals("silence") ? timeouts(null, SOON, null) : timeouts(null, null, SOON);
    try (Rig rig = new Rig(bound, a);
        RawHttp client = rig.connect()) {
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.readHead().status()).isEqualTo(200);
      assertThat(client.readChunk()).isEqualTo("drop");
      assertThatThrownBy(client::readChunk).isInstanceOf(EOFException.class);
      rig.awaitEvents("sent m a 1", "rejected m " + code);
      await().untilAsserted(() -> assertThat(a.closed).as("abandoned").hasValue(1));
    }
  }

  /** To a client of HTTP/1.0 an ordinary close would be the end of a whole answer. */
  @Test
  void aClientWithoutChunksSeesTheBreakToo() throws Exception {
    RawBackend a = new RawBackend("a", GatewayFaultsIT::dripOnce);
    try (Rig rig = new Rig(timeouts(null, SOON, null), a);
        RawHttp client = rig.connect()) {
      client.send(
          "POST /v1/chat/completions HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: "
              + Rig.BODY.length()
              + "\r\n\r\n"
              + Rig.BODY);
      assertThat(client.readHead().status()).isEqualTo(200);
      assertThatThrownBy(client::rest).isInstanceOf(IOException.class).hasMessageContaining("eset");
    }
  }

  private static void dripOnce(RawHttp connection, RawHttp.Message request) throws Exception {
    connection.send(CHUNKED + "4\r\ndrop\r\n");
    connection.closed();
    throw new EOFException();
  }

  @Test
  void anAnswerThatDripsIsNotSilent() throws Exception {
    Duration pause = Duration.ofMillis(250);
    int drops = (int) SOON.dividedBy(pause) + 4; // for longer than it may be silent
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send(CHUNKED);
              for (int i = 0; i < drops; i++) {
                connection.chunk(OK);
                long until = System.nanoTime() + pause.toNanos();
                await()
                    .pollInterval(Duration.ofMillis(10))
                    .until(() -> System.nanoTime() - until > 0);
              }
              connection.chunk("");
            });
    try (Rig rig = new Rig(timeouts(null, SOON, null), a)) {
      assertThat(ask(rig).text()).isEqualTo(OK.repeat(drops));
      rig.awaitEvents("sent m a 1", "ended completed -1/-1");
    }
  }

  @Test
  void aClientThatLeavesWhileAnAnswerIsHeldLeavesNothing() throws Exception {
    RawBackend[] backends =
        bothFail(
            (connection, request) -> {
              connection.send("HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.closed();
              throw new EOFException();
            });
    try (Rig rig = new Rig(Rig.config(), backends)) {
      RawHttp client = rig.connect();
      client.post(Rig.CHAT, Rig.BODY);
      // Once, or already twice: the answer of each is held for a while.
      await().pollInterval(Duration.ofMillis(1)).until(() -> requests(backends) >= 1);
      client.reset();
      await().until(() -> rig.pool.active().get() == 0);
      await().untilAsserted(() -> assertThat(closed(backends)).isEqualTo(requests(backends)));
    }
  }

  private static int closed(RawBackend... backends) {
    int all = 0;
    for (RawBackend backend : backends) {
      all += backend.closed.get();
    }
    return all;
  }

  /** Serves well, but for the next request. */
  private static final class Switch implements RawBackend.Script {
    private final RawBackend.Script usual;
    private volatile RawBackend.@Nullable Script next;

    Switch(RawBackend.Script usual) {
      this.usual = usual;
    }

    void once(RawBackend.Script fault) {
      next = fault;
    }

    @Override
    public void serve(RawHttp connection, RawHttp.Message request) throws Exception {
      RawBackend.Script now = next;
      next = null;
      (now == null ? usual : now).serve(connection, request);
    }
  }

  /** A port to which no connection comes about: its queue is full, and nobody takes any out. */
  private static final class BlackHole implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private final List<Socket> queued = new ArrayList<>();

    BlackHole() throws IOException {
      boolean full = false;
      while (!full) {
        Socket socket = new Socket();
        queued.add(socket);
        try {
          socket.connect(server.getLocalSocketAddress(), 200);
        } catch (IOException e) {
          full = true;
        }
      }
    }

    EndpointSpec spec() {
      return new EndpointSpec("hole", "1", "127.0.0.1", server.getLocalPort(), Map.of());
    }

    @Override
    public void close() throws IOException {
      for (Socket socket : queued) {
        socket.close();
      }
      server.close();
    }
  }
}
