package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.Failure;
import io.fairlead.core.HealthState;
import io.fairlead.core.receipt.FailedAttempt;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.receipt.ReceiptFilter;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.probe.HttpProber;
import io.fairlead.epp.sockets.ClosedPort;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a real Envoy tells the picker of endpoints that fail, and what its clients get.
 *
 * <p>An endpoint that can't be reached, or that breaks before its response's headers, comes as
 * headers with 503 (garbage as 502), answered by Envoy itself. One that breaks in its response's
 * body comes as the end of the stream: just as a client that leaves.
 */
class EnvoyFaultsIT {

  private static final String CHAT = "/v1/chat/completions";
  private static final String BODY =
      "{\"model\":\"chat\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final String CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

  /** Much longer than what comes at once takes on a machine that is busy. */
  private static final Duration SOON = Duration.ofSeconds(5);

  /** What an answer of a server that is well takes. */
  private static final Duration TAKES = Duration.ofMillis(20);

  /** Requests that are served before a server falls sick. */
  private static final int BEFORE = 80;

  @TempDir private static Path folder;
  private static MultiThreadIoEventLoopGroup loops;
  private static TestPool pool;
  private static ExtProcServer picker;
  private static Envoy envoy;

  private @Nullable RawBackend backend;

  /** Clients' requests that a server still had when Envoy closed. */
  private final AtomicInteger abandoned = new AtomicInteger();

  @BeforeAll
  static void start() throws Exception {
    loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    pool = new TestPool(loops.next(), new HttpProber(loops.next(), NioSocketChannel.class));
    pool.loop.start();
    picker =
        ExtProcServer.start(
            new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.PlainText(), 1 << 20, false),
            pool.loop,
            BodyBudget.ofHeap(),
            loops,
            new Health());
    envoy = Envoy.start(picker.port(), false, folder);
  }

  @AfterAll
  static void stop() {
    envoy.close();
    picker.close();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @BeforeEach
  void forgetEarlierEvents() {
    pool.events.clear();
    pool.configured();
  }

  @AfterEach
  void nothingIsLeftInFlight() throws IOException {
    await().until(() -> pool.active() == 0 && picker.counters().active() == 0);
    assertThat(pool.inFlight()).isZero();
    assertThat(picker.counters().failures()).isZero();
    assertThat(picker.counters().protocolErrors()).isZero();
    if (backend != null) {
      backend.close();
    }
  }

  private RawBackend serve(RawBackend.Script script) throws IOException {
    RawBackend serving = new RawBackend("a", script);
    backend = serving;
    pool.endpoints(serving.spec());
    return serving;
  }

  private static RawHttp ask(String... headers) throws IOException {
    return askWith(BODY, headers);
  }

  private static RawHttp askWith(String body, String... headers) throws IOException {
    RawHttp client = RawHttp.connect(envoy.url().getPort());
    client.send(
        "POST "
            + CHAT
            + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            + String.join("", headers)
            + "Content-Length: "
            + body.length()
            + "\r\n\r\n"
            + body);
    return client;
  }

  /** Of requests: that a server is out, or in use again, may be told meanwhile. */
  private static void awaitEvents(String... expected) {
    await()
        .untilAsserted(
            () ->
                assertThat(pool.events)
                    .filteredOn(
                        event ->
                            Arrays.stream(HealthState.values())
                                .noneMatch(state -> event.endsWith(" " + state)))
                    .containsExactly(expected));
  }

  private static double risk() throws Exception {
    return pool.loop.snapshot().get().getFirst().health().failing();
  }

  /** Of the newest request. */
  private static KeptRequest receipt() throws Exception {
    String id = pool.loop.decisions(ReceiptFilter.ANY, 1).get().requests().getFirst().id();
    return kept(id);
  }

  private static KeptRequest kept(String id) throws Exception {
    return Objects.requireNonNull(pool.loop.decision(id, 1).get()).request();
  }

  private static void failed(Failure how, int status) throws Exception {
    KeptRequest receipt = receipt();
    assertThat(receipt.request().outcome()).isEqualTo("failed");
    FailedAttempt failed = Objects.requireNonNull(receipt.failed(0));
    assertThat(failed.how()).isEqualTo(how);
    assertThat(failed.at()).isGreaterThan(receipt.request().sentAt());
    assertThat(receipt.status(0)).isEqualTo(status);
  }

  /** Answers only what probes ask: it is not taken out for its silence. */
  private void silent(RawHttp connection, RawHttp.Message request) throws IOException {
    if (isProbe(request)) {
      connection.respond(200, "", "{}");
      return;
    }
    connection.closed();
    abandoned.incrementAndGet();
    throw new EOFException();
  }

  private static boolean isProbe(RawHttp.Message request) {
    return !request.text().contains("\"hi\"");
  }

  private void half(RawHttp connection, RawHttp.Message request) throws IOException {
    if (!isProbe(request)) {
      connection.send(CHUNKED + "4\r\nhalf\r\n");
    }
    silent(connection, request);
  }

  @Test
  void aPortThatRefusesIsAFailure() throws Exception {
    try (ClosedPort closed = new ClosedPort()) {
      pool.endpoints(TestPool.endpoint("a", "127.0.0.1", closed.number()));
      try (RawHttp client = ask()) {
        assertThat(client.read().status()).isEqualTo(503);
      }
    }
    awaitEvents("sent a", "ended a FAILED");
    assertThat(risk()).isPositive();
    failed(Failure.UNAVAILABLE, 503);
  }

  @ParameterizedTest
  @CsvSource({"reset,503", "close,503", "garbage,502"})
  void aConnectionThatBreaksBeforeHeadersIsAFailure(String how, int status) throws Exception {
    serve(
        (connection, request) -> {
          switch (how) {
            case "reset" -> connection.reset();
            case "close" -> connection.close();
            default -> connection.send("so it goes\r\n\r\n");
          }
        });
    try (RawHttp client = ask()) {
      assertThat(client.read().status()).isEqualTo(status);
    }
    awaitEvents("sent a", "ended a FAILED");
    assertThat(risk()).isPositive();
    failed(Failure.UNAVAILABLE, status);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 500 X\r\nx-why: because\r\nContent-Length: 4\r\n\r\noops",
        "HTTP/1.1 500 X\r\nx-why: because\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 503 X\r\nx-why: because\r\nTransfer-Encoding: chunked\r\n\r\n4\r\noops\r\n0\r\n\r\n"
      })
  void anErrorIsTheClientsToSee(String answer) throws Exception {
    serve((connection, request) -> connection.send(answer));
    try (RawHttp client = ask()) {
      RawHttp.Message got = client.read();
      assertThat(got.start()).startsWith(answer.substring(0, "HTTP/1.1 500".length()));
      assertThat(got.header("x-why")).isEqualTo("because");
      assertThat(got.text()).isEqualTo(answer.contains("oops") ? "oops" : "");
    }
    awaitEvents("sent a", "ended a FAILED");
    assertThat(risk()).isPositive();
    boolean error = answer.contains("500") && answer.contains("oops");
    failed(error ? Failure.ERROR : Failure.UNAVAILABLE, answer.contains("500") ? 500 : 503);
  }

  /** It answers at once, and would look idle all the time. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"choices\":[{}",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 14\r\n\r\ndata: [DONE]\n\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 22\r\n\r\ndata: {\"choices\":[]}\n\n"
      })
  void aServerThatServesNothingIsNotWhereMostGo(String none) throws Exception {
    RawBackend sick = serve((connection, request) -> connection.send(none));
    String answer = "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}";
    try (RawBackend well =
        new RawBackend(
            "well",
            (connection, request) ->
                connection.respond(200, "Content-Type: application/json\r\n", answer))) {
      pool.endpoints(sick.spec(), well.spec());
      await("both are known: one that is new waits for its first scrape, and nobody scrapes here")
          .until(
              () -> {
                try (RawHttp client = ask()) {
                  client.read();
                }
                return !sick.requests.isEmpty() && !well.requests.isEmpty();
              });
      int before = sick.requests.size();
      long begun = System.nanoTime();
      for (int i = 0; i < 200; i++) {
        try (RawHttp client = ask()) {
          assertThat(client.read().status()).isIn(200, 302, 401, 404, 429);
        }
      }
      // The longer they take, the oftener it is tried.
      double tries = Math.min((System.nanoTime() - begun) / 1e9, 12);
      assertThat(sick.requests.size() - before - tries).as("of 200").isLessThan(20);
      assertThat(pool.events)
          .containsAnyOf("ended a REFUSED", "ended a INVALID", "ended a FAILED")
          .contains("ended well COMPLETED");
      ReceiptFilter ofSick = new ReceiptFilter(null, sick.spec().name(), null);
      String id = pool.loop.decisions(ofSick, 1).get().requests().getFirst().id();
      assertThat(kept(id).status(0)).isEqualTo(Integer.parseInt(none.substring(9, 12)));
    }
  }

  /**
   * It looks the least busy of all, its cuts look like those of clients that leave, and what it had
   * before ends well between them.
   */
  @ParameterizedTest
  @ValueSource(strings = {CHUNKED, "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"})
  void aServerThatClosesAfterTheHeadIsLeftSoon(String head) throws Exception {
    String answer = "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}";
    AtomicInteger asked = new AtomicInteger();
    AtomicBoolean isSick = new AtomicBoolean();
    // Each request from then on lets one of those before it end, however fast the machine is.
    Semaphore ends = new Semaphore(0);
    RawBackend.Script well =
        (connection, request) -> {
          if (!request.text().contains("\"hi\"")) {
            connection.respond(200, "Content-Type: application/json\r\n", answer); // to a probe
            return;
          }
          if (isSick.get()) {
            ends.release();
            Thread.sleep(TAKES.toMillis());
          } else {
            asked.incrementAndGet();
            ends.acquire();
          }
          connection.respond(200, "Content-Type: application/json\r\n", answer);
        };
    RawBackend sick =
        serve(
            (connection, request) -> {
              if (isSick.get()) {
                ends.release();
                connection.send(head);
                connection.close();
              } else {
                well.serve(connection, request);
              }
            });
    try (RawBackend other = new RawBackend("well", well);
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      pool.endpoints(sick.spec(), other.spec());
      AtomicInteger served = new AtomicInteger();
      Semaphore atATime = new Semaphore(BEFORE);
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < BEFORE + 400; i++) {
        if (i == BEFORE) {
          await().atMost(Duration.ofMinutes(1)).until(() -> asked.get() == BEFORE);
          isSick.set(true);
          atATime.drainPermits();
          atATime.release(8);
        }
        atATime.acquire();
        boolean kept = i < BEFORE;
        all.add(
            clients.submit(
                () -> {
                  try (RawHttp client = ask()) {
                    served.addAndGet(client.read().text().equals(answer) ? 1 : 0);
                  } catch (EOFException e) {
                    // Cut, after Envoy had sent the head on; before that it answers 502.
                  }
                  if (!kept) {
                    atATime.release();
                  }
                  return null;
                }));
      }
      for (Future<?> each : all) {
        each.get();
      }
      assertThat(pool.events).contains("a OUT");
      assertThat(BEFORE + 400 - served.get()).as("failed of 400").isBetween(1, 25);
    }
  }

  /**
   * As one does whose engine hangs behind a frontend that is well; a probe gets a head, too. Its
   * clients wait, so that nothing else tells of it.
   */
  @Test
  void aServerThatSendsHeadsAloneIsOut() throws Exception {
    String answer = "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}";
    AtomicBoolean isSick = new AtomicBoolean();
    AtomicInteger kept = new AtomicInteger();
    CountDownLatch over = new CountDownLatch(1);
    RawBackend.Script well =
        (connection, request) ->
            connection.respond(200, "Content-Type: application/json\r\n", answer);
    RawBackend sick =
        serve(
            (connection, request) -> {
              if (!isSick.get()) {
                well.serve(connection, request);
                return;
              }
              kept.addAndGet(request.text().contains("\"hi\"") ? 1 : 0);
              connection.send(CHUNKED);
              over.await();
              connection.close();
            });
    try (RawBackend other = new RawBackend("well", well);
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      pool.endpoints(sick.spec(), other.spec());
      AtomicInteger answered = new AtomicInteger();
      Callable<Void> client =
          () -> {
            try (RawHttp asking = ask()) {
              asking.socket.setSoTimeout(0); // it waits to the end
              answered.addAndGet(asking.read().text().equals(answer) ? 1 : 0);
            } catch (EOFException e) {
              // The head is all that it got.
            }
            return null;
          };
      for (int i = 0; i < BEFORE; i++) {
        client.call();
      }
      isSick.set(true);
      List<Future<?>> all = new ArrayList<>();
      await()
          .atMost(Duration.ofMinutes(1))
          .pollInterval(TAKES)
          .until(
              () -> {
                all.add(clients.submit(client));
                return pool.events.contains("a OUT");
              });
      await().until(() -> answered.get() + kept.get() == BEFORE + all.size());
      int before = kept.get();
      for (int i = 0; i < 200; i++) {
        client.call();
      }
      assertThat(kept.get() - before).as("of 200").isZero();
      over.countDown();
      for (Future<?> each : all) {
        each.get();
      }
    }
  }

  /** As where an image can't be fetched: it says nothing of servers that serve all else. */
  @Test
  void aRequestThatEachServerFailsTakesNoneAway() throws Exception {
    String poison = BODY.replace("hi", "poison");
    RawBackend.Script allButPoison =
        (connection, request) -> {
          if (request.text().contains("poison")) {
            connection.respond(500, "", "{\"error\":{\"message\":\"no image\",\"code\":500}}");
          } else {
            connection.respond(
                200,
                "Content-Type: application/json\r\n",
                "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}");
          }
        };
    RawBackend a = serve(allButPoison);
    try (RawBackend b = new RawBackend("b", allButPoison)) {
      pool.endpoints(a.spec(), b.spec());
      // Each goes to one by lot: three in a row have failed at each again and again.
      for (int i = 0; i < 100; i++) {
        for (String body : List.of(BODY, BODY.replace("hi", "ho"), poison, poison, poison)) {
          try (RawHttp client = askWith(body)) {
            assertThat(client.read().status()).isEqualTo(body.equals(poison) ? 500 : 200);
          }
        }
      }
      assertThat(pool.events).doesNotContain("a OUT", "b OUT");
      assertThat(a.requests).hasSizeGreaterThan(100);
      assertThat(b.requests).hasSizeGreaterThan(100);
    }
  }

  @Test
  void aSheddableRequestMakesRoomBeforeItsAnswerHasBegun() throws Exception {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L))),
            List.of(),
            "room",
            Map.of(),
            new FlowControlConfig(null, null, null, null, true, null, null, null, null, List.of()),
            null,
            List.of());
    ModelConfig spare = new ModelConfig("spare", Criticality.SHEDDABLE, List.of());
    pool.loop
        .configure(
            new ConfigCompiler(List.of())
                .compile(
                    new PoolConfig(
                        "n", "p", Map.of(), List.of(1), "http", List.of(spare), scheduler)))
        .syncUninterruptibly();
    RawBackend a =
        serve(
            (connection, request) -> {
              if (request.text().contains("spare")) {
                silent(connection, request);
              }
              connection.respond(200, "", "{}");
            });
    try (RawHttp first = askWith(BODY.replace("chat", "spare"))) {
      await().until(() -> !a.requests.isEmpty());
      try (RawHttp second = ask()) {
        RawHttp.Message answer = first.read();
        assertThat(answer.status()).isEqualTo(429);
        assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("evicted_in_flight");
        assertThat(answer.header("x-llm-d-request-dropped-reason")).isEqualTo("evicted");
        assertThat(second.read().status()).isEqualTo(200);
      }
    }
    await().untilAsserted(() -> assertThat(abandoned).hasValue(1));
  }

  @Test
  void aFrozenEndpointIsAnsweredForInTime() throws Exception {
    pool.configured(timeouts(SOON, null, null));
    serve(this::silent);
    try (RawHttp client = ask()) {
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(504);
      assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("first_byte_timeout");
      assertThat(answer.text()).contains("\"code\":\"first_byte_timeout\"");
    }
    awaitEvents("sent a", "rejected FIRST_BYTE_TIMEOUT");
    await().untilAsserted(() -> assertThat(abandoned).hasValue(1));
  }

  @Test
  void anAnswerThatStopsIsBrokenOff() throws Exception {
    pool.configured(timeouts(null, SOON, null));
    serve(this::half);
    try (RawHttp client = ask()) {
      assertThat(client.readHead().status()).isEqualTo(200);
      assertThat(client.readChunk()).isEqualTo("half");
      assertThatThrownBy(client::readChunk).isInstanceOf(EOFException.class);
    }
    awaitEvents("sent a", "rejected SILENCE_TIMEOUT");
    await().untilAsserted(() -> assertThat(abandoned).hasValue(1));
  }

  @Test
  void aRequestsOwnTimeoutCountsWhereItIsTrusted() throws Exception {
    String header = "x-fairlead-timeout-total: 5s\r\n";
    pool.configured(timeouts(null, null, null));
    RawBackend a = serve(this::silent);
    try (RawHttp client = ask(header)) {
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(504);
      assertThat(answer.header("x-fairlead-reject-reason")).isEqualTo("timeout");
    }
    awaitEvents("sent a", "rejected TOTAL_TIMEOUT");
    await().untilAsserted(() -> assertThat(abandoned).hasValue(1));
    assertThat(a.requests.element().header("x-fairlead-timeout-total"))
        .as("it is the picker's alone")
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAnswerThatIsCutIsCutForTheClient(boolean reset) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    serve(
        (connection, request) -> {
          connection.send(CHUNKED);
          connection.chunk("half");
          begun.await();
          if (reset) {
            connection.reset();
          } else {
            connection.close();
          }
        });
    try (RawHttp client = ask()) {
      assertThat(client.readHead().status()).isEqualTo(200);
      assertThat(client.readChunk()).isEqualTo("half");
      begun.countDown();
      assertThatThrownBy(client::readChunk).isInstanceOf(EOFException.class);
    } finally {
      begun.countDown();
    }
    awaitEvents("sent a", "ended a DISCONNECTED");
  }

  @Test
  void aClientThatLeavesASilentEndpointLeavesNothing() throws Exception {
    RawBackend a = serve(this::silent);
    try (RawHttp _ = ask()) {
      await().until(() -> !a.requests.isEmpty());
    }
    awaitEvents("sent a", "ended a DISCONNECTED");
    await().untilAsserted(() -> assertThat(abandoned).hasValue(1));
    assertThat(risk()).as("it says nothing of the endpoint").isZero();
  }

  private static RequestsConfig timeouts(
      @Nullable Duration firstByte, @Nullable Duration silence, @Nullable Duration total) {
    RequestsConfig usual = RequestsConfig.DEFAULT;
    return new RequestsConfig(
        usual.unconfiguredModels(),
        new TimeoutsConfig(firstByte, silence, total),
        true,
        usual.retryBudgetPercent());
  }
}
