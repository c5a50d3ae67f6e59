package io.fairlead.epp.datalayer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.ClosedPort;
import io.fairlead.epp.sockets.ScarceSocket;
import io.fairlead.plugin.DataSource;
import io.fairlead.plugin.Readings;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scraper against engines that misbehave, on a clock that the test moves. */
@ExtendWith(NoLeaks.class)
class MetricsScraperIT {

  private static final String GOOD =
      page(
          "vllm:num_requests_waiting 3\nvllm:num_requests_running 2\nvllm:kv_cache_usage_perc .5\n");
  private static final EndpointMetrics AS_TOLD = new EndpointMetrics(3, 2, .5, -1, -1);
  private static final String SILENCE = "";
  private static final String HANG_UP = "hang up";

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final AtomicLong clock = new AtomicLong();

  /** How far the clock goes on when the next page of the engine is read: none is awaited then. */
  private final AtomicLong pause = new AtomicLong();

  private final Queue<String> who = new ConcurrentLinkedQueue<>();
  private final Queue<String> unreachable = new ConcurrentLinkedQueue<>();
  private final Queue<EndpointMetrics> scraped = new ConcurrentLinkedQueue<>();
  private volatile boolean sinkThrows;
  private final Engine engine = new Engine();
  private final MetricsScraper scraper =
      new MetricsScraper(
          loops,
          ScarceSocket.class,
          new MetricsScraper.Settings(
              Duration.ofMillis(10), Duration.ofSeconds(1), Duration.ofSeconds(5)),
          clock::get,
          new MetricsScraper.Sink() {
            @Override
            public void scraped(EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
              who.add(endpoint.incarnation() + " at " + begunAt);
              scraped.add(metrics);
              clock.addAndGet(pause.getAndSet(0));
            }

            @Override
            public void unreachable(EndpointSpec endpoint, long begunAt, Failure how) {
              unreachable.add(endpoint.incarnation() + " at " + begunAt + ": " + how);
              if (sinkThrows) {
                throw new IllegalStateException("of the test");
              }
            }
          });

  private long failures() {
    return scraper.failures().getOrDefault("e", 0L);
  }

  @AfterEach
  void stop() throws IOException {
    ScarceSocket.noneLeft(false);
    scraper.close();
    engine.close();
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void readsOverOneConnectionAgainAndAgain() {
    engine.answer = GOOD;
    scrape();
    await().until(() -> scraped.size() >= 5);
    assertThat(scraped).containsOnly(AS_TOLD);
    assertThat(engine.connections).hasValue(1);
    assertThat(failures()).isZero();
    assertThat(scraper.allRefuse()).isFalse();
  }

  @Test
  void givesUpOnAnAnswerThatIsLateAndAsksAnew() {
    engine.answer = SILENCE;
    scrape();
    await().until(() -> engine.unanswered.get() == 1);
    assertThat(failures()).isZero();

    engine.answer = GOOD;
    clock.addAndGet(Duration.ofSeconds(1).toNanos());

    await().until(() -> !scraped.isEmpty());
    assertThat(scraped).containsOnly(AS_TOLD);
    assertThat(failures()).isEqualTo(1);
    assertThat(engine.connections).hasValue(2);
  }

  @Test
  void asksOnAfterALookAtTheTimeHasThrown() {
    engine.answer = SILENCE;
    sinkThrows = true;
    scrape();
    await().until(() -> engine.unanswered.get() == 1);
    clock.addAndGet(Duration.ofSeconds(1).toNanos());
    await().until(() -> !unreachable.isEmpty());

    sinkThrows = false;
    engine.answer = GOOD;
    await()
        .until(
            () -> {
              clock.addAndGet(Duration.ofSeconds(1).toNanos());
              return !scraped.isEmpty();
            });
    assertThat(List.copyOf(scraped).getLast()).isEqualTo(AS_TOLD);
  }

  @Test
  void forgetsWhatAnEngineSaidOnceItIsFrozenForLong() {
    engine.answer = GOOD;
    scrape();
    await().until(() -> !scraped.isEmpty());

    engine.answer = SILENCE;
    await().until(() -> engine.unanswered.get() == 1);
    clock.addAndGet(Duration.ofSeconds(4).toNanos());
    await().until(() -> failures() == 1);
    assertThat(scraped).as("a short silence is no reason").containsOnly(AS_TOLD);

    await().until(() -> engine.unanswered.get() == 2);
    clock.addAndGet(Duration.ofSeconds(1).toNanos());
    await().until(() -> scraped.contains(EndpointMetrics.UNKNOWN));
    assertThat(scraped.stream().filter(EndpointMetrics.UNKNOWN::equals)).hasSize(1);

    engine.answer = GOOD;
    clock.addAndGet(Duration.ofSeconds(1).toNanos());
    int told = scraped.size();
    await().until(() -> scraped.size() > told);
    assertThat(List.copyOf(scraped).getLast()).isEqualTo(AS_TOLD);
  }

  @Test
  void whatIsMissingFromThePageIsUnknown() {
    engine.answer = page("vllm:num_requests_waiting 7\nother 1\n");
    scrape();
    await().until(() -> !scraped.isEmpty());
    assertThat(scraped).containsOnly(new EndpointMetrics(7, -1, Double.NaN, -1, -1));
    assertThat(failures()).isZero();
  }

  @Test
  void aPageOfGarbageSaysNothing() {
    byte[] bytes = new byte[5_000];
    new Random(11).nextBytes(bytes);
    engine.answer = page(new String(bytes, StandardCharsets.ISO_8859_1));
    scrape();
    await().until(() -> scraped.size() > 1);
    assertThat(scraped).containsOnly(EndpointMetrics.UNKNOWN);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\u0000\u0001\u0002 no HTTP at all\r\n\r\n",
        "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
      })
  void whatIsNoPageIsAFailureAndTheEngineIsAskedAgain(String answer) {
    engine.answer = answer;
    scrape();
    await().until(() -> failures() >= 2);
    assertThat(scraped).isEmpty();

    engine.answer = GOOD;
    await().until(() -> !scraped.isEmpty());
    assertThat(scraped).containsOnly(AS_TOLD);
  }

  @Test
  void tellsThatThePortRefuses() throws Exception {
    clock.set(70);
    try (ClosedPort nobody = new ClosedPort()) {
      scraper.endpoints(
          List.of(new EndpointSpec("e", "1", "127.0.0.1", nobody.number(), Map.of())));
      await().until(() -> unreachable.size() >= 2);
      assertThat(unreachable).containsOnly("1 at 70: REFUSED");
      assertThat(scraper.allRefuse()).isTrue();
      assertThat(scraped).isEmpty();
    }
  }

  /** Nobody was asked: what was said is forgotten in its time, and no endpoint is to blame. */
  @Test
  void withoutASocketItBlamesNobodyAsksLessOftenAndForgetsWhatIsStale() {
    engine.answer = GOOD;
    scrape();
    await().until(() -> !scraped.isEmpty());
    ScarceSocket.noneLeft(true);
    engine.answer = HANG_UP;
    await().until(() -> failures() >= 2);
    clock.addAndGet(Duration.ofSeconds(5).toNanos());
    await().until(() -> scraped.contains(EndpointMetrics.UNKNOWN));
    assertThat(unreachable).filteredOn(how -> !how.endsWith("DIED")).isEmpty();
    assertThat(scraper.allRefuse()).isFalse();

    scraped.clear();
    engine.answer = GOOD;
    ScarceSocket.noneLeft(false);
    await().until(() -> !scraped.isEmpty());
    assertThat(scraped).containsOnly(AS_TOLD);
  }

  @Test
  void tellsThatNothingComesAndThatConnectionsBreak() {
    engine.answer = SILENCE;
    scrape();
    await().until(() -> engine.unanswered.get() == 1);
    assertThat(unreachable).isEmpty();
    engine.answer = HANG_UP;
    clock.set(Duration.ofSeconds(1).toNanos());
    await().until(() -> unreachable.size() >= 2);
    assertThat(unreachable).contains("1 at 0: FIRST_BYTE_LATE", "1 at 1000000000: DIED");
    assertThat(failures()).isGreaterThanOrEqualTo(2);
  }

  /** A page that is bad is no reason to think that requests fail. */
  @ParameterizedTest
  @ValueSource(
      strings = {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "not HTTP\r\n\r\n"})
  void aBadPageSaysNothingOfThePort(String answer) {
    engine.answer = answer;
    scrape();
    await().until(() -> failures() >= 2);
    assertThat(unreachable).isEmpty();
  }

  /** Nor is one that is slow. */
  @Test
  void aPageThatDoesNotEndSaysNothingOfThePort() {
    engine.answer = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nvllm:num_re";
    scrape();
    for (int late = 1; late <= 2; late++) {
      int looks = late;
      await().until(() -> engine.answered.get() == looks);
      awaitRead();
      clock.addAndGet(Duration.ofSeconds(1).toNanos());
      await().until(() -> failures() == looks);
    }
    assertThat(unreachable).isEmpty();
  }

  /** Until what has come is read: a first task may run before that, a second does not. */
  private void awaitRead() {
    loops.submit(() -> {}).syncUninterruptibly();
    loops.submit(() -> {}).syncUninterruptibly();
  }

  @Test
  void aPortBesideTheServersOwnSaysNothingOfIt() {
    engine.answer = GOOD;
    scraper.sources(with(new Side(1, (page, readings) -> {})));
    scrape();
    await().until(() -> scraper.sourceFailures() > 1);
    assertThat(unreachable).isEmpty();
  }

  @Test
  void anotherProcessIsSeen() {
    engine.answer = page("process_start_time_seconds 1e9\nvllm:prompt_tokens_total 80\n");
    scrape();
    await().until(() -> !scraped.isEmpty());
    engine.answer = page("process_start_time_seconds 1.5e9\nvllm:prompt_tokens_total 0\n");
    await().until(() -> List.copyOf(scraped).getLast().startedAt() == 1.5e9);
    assertThat(scraped.peek())
        .extracting(EndpointMetrics::startedAt, EndpointMetrics::progress)
        .containsExactly(1e9, 80.0);
    assertThat(List.copyOf(scraped).getLast().progress()).isZero();
  }

  @Test
  void stopsWhenTheEndpointLeaves() throws Exception {
    engine.answer = GOOD;
    scrape();
    await().until(() -> !scraped.isEmpty());
    scraper.endpoints(List.of());
    await().until(() -> engine.closed.get() == 1);
    assertThat(scraper.allRefuse()).as("of no endpoints").isFalse();
  }

  @Test
  void tellsWhichProcessItAskedAndWhen() {
    engine.answer = GOOD;
    clock.set(70);
    scrape();
    await().until(() -> who.contains("1 at 70"));
    scraper.endpoints(List.of());
    await().until(() -> engine.closed.get() == 1);
    who.clear();

    clock.set(90);
    scraper.endpoints(List.of(endpoint("2")));
    await().until(() -> !who.isEmpty());
    assertThat(who).containsOnly("2 at 90");
  }

  @Test
  void asksSeldomWhileNoDecisionDependsOnIt() {
    engine.answer = GOOD;
    Queue<Long> quietly = new ConcurrentLinkedQueue<>();
    try (MetricsScraper quiet =
        new MetricsScraper(
            loops,
            ScarceSocket.class,
            new MetricsScraper.Settings(
                Duration.ofMillis(10),
                Duration.ofSeconds(1),
                Duration.ofSeconds(5),
                MetricsSource.DEFAULT,
                Duration.ofSeconds(1),
                null,
                true),
            clock::get,
            (endpoint, begunAt, metrics) -> quietly.add(begunAt))) {
      quiet.endpoints(List.of(endpoint("1")));
      await().until(() -> quietly.size() > 2); // a picker that has just begun may soon be asked

      long late = Duration.ofSeconds(3).toNanos();
      clock.set(late);
      await().until(() -> quietly.contains(late));
      quietly.clear();
      scrape(); // another one that is never quiet tells that time goes by
      await().until(() -> scraped.size() > 10);
      assertThat(quietly).isEmpty();

      quiet.busy();
      await().until(() -> quietly.size() > 2);
    }
  }

  @Test
  void asksNobodyOnceItIsClosed() {
    engine.answer = GOOD;
    scraper.close();
    scrape();
    assertThat(scraper.targets()).isZero();
  }

  @Test
  void anotherSourceTellsBesideTheEngine() throws Exception {
    engine.answer = GOOD;
    try (Engine side = new Engine()) {
      side.answer = page("42");
      scraper.sources(with(new Side(side.port(), (page, r) -> r.number("side", number(page)))));
      scrape();
      await().until(() -> scraped.contains(withSide(42)));
      assertThat(scraped)
          .as("it never speaks before the engine")
          .allMatch(metrics -> metrics.waiting() == 3);

      side.answer = page("43");
      await().until(() -> scraped.contains(withSide(43)));

      scraper.sources(DataSources.DEFAULT);
      await().until(() -> side.closed.get() == 1);
      scraped.clear();
      await().until(() -> scraped.size() > 2);
      assertThat(List.copyOf(scraped).getLast()).isEqualTo(AS_TOLD);
    }
    assertThat(failures()).isZero();
    assertThat(scraper.sourceFailures()).isZero();
  }

  /** The answer to a look comes at the same moment as its source goes, in one round or another. */
  @Test
  void aSourceThatIsTakenAwayInTheMidstOfALookHasNotFailed() throws Exception {
    engine.answer = GOOD;
    scrape();
    try (Engine side = new Engine()) {
      side.answer = page("42");
      for (int round = 1; round <= 300; round++) {
        int asked = round;
        scraper.sources(with(new Side(side.port(), (page, r) -> r.number("side", number(page)))));
        await()
            .pollInterval(Duration.ofNanos(1_000))
            .pollInSameThread()
            .until(() -> side.connections.get() >= asked);
        scraper.sources(DataSources.DEFAULT);
      }
      await().until(() -> side.closed.get() == side.connections.get());
    }
    assertThat(scraper.sourceFailures()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"throws", "too long", "not found", "hangs"})
  void theFailureOfAnotherSourceChangesNothingElse(String how) throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch hanging = new CountDownLatch(1);
    engine.answer = GOOD;
    try (Engine side = new Engine()) {
      side.answer = page("42");
      AtomicBoolean fails = new AtomicBoolean();
      scraper.sources(
          with(
              new Side(
                  side.port(),
                  (page, readings) -> {
                    if (fails.get() && how.equals("hangs")) {
                      hangs.countDown();
                      awaitUninterruptibly(hanging);
                    } else if (fails.get() && how.equals("throws")) {
                      throw new IllegalStateException("on purpose");
                    }
                    readings.number("side", number(page));
                  })));
      scrape();
      await().until(() -> scraped.contains(withSide(42)));

      fails.set(true);
      switch (how) {
        case "too long" -> side.answer = page("4".repeat(200));
        case "not found" -> side.answer = "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
        default -> {}
      }
      if (how.equals("hangs")) {
        hangs.await();
        scraped.clear();
        await().until(() -> scraped.size() > 3);
        clock.addAndGet(Duration.ofSeconds(1).toNanos());
      }
      await().until(() -> scraper.sourceFailures() >= 1);
      scraped.clear();
      await().until(() -> scraped.size() > 3);
      assertThat(scraped).as("a short silence is no reason").containsOnly(withSide(42));

      clock.addAndGet(Duration.ofSeconds(5).toNanos());
      await().until(() -> scraped.contains(AS_TOLD));
      fails.set(false);
      hanging.countDown();
      side.answer = page("44");
      await().until(() -> scraped.contains(withSide(44)));
    } finally {
      hanging.countDown();
    }
    assertThat(scraper.allRefuse()).isFalse();
  }

  /** The end of the connection is here before the source has read the page. */
  @Test
  void aServerThatClosesAfterEachPageIsAskedOnceForEach() throws Exception {
    CountDownLatch reading = new CountDownLatch(1);
    engine.answer = GOOD;
    try (Engine side = new Engine()) {
      side.answer = page("42");
      side.closes = true;
      scraper.sources(
          with(
              new Side(
                  side.port(),
                  (page, readings) -> {
                    awaitUninterruptibly(reading);
                    readings.number("side", number(page));
                  })));
      scrape();
      await().until(() -> side.closed.get() >= 1);
      awaitRead(); // the end of the connection
      scraped.clear();
      await().until(() -> scraped.size() > 3);
      assertThat(side.connections).as("it is asked again once it is read").hasValue(1);

      reading.countDown();
      await().until(() -> scraped.contains(withSide(42)));
      side.answer = page("43");
      await().until(() -> scraped.contains(withSide(43)));
      // Before its port is closed, which is a failure too.
      assertThat(scraper.sourceFailures()).isZero();
    } finally {
      reading.countDown();
    }
  }

  @Test
  void aSourceThatReadsForTooLongSaysNothingOfTheServersPort() throws Exception {
    CountDownLatch reads = new CountDownLatch(1);
    CountDownLatch reading = new CountDownLatch(1);
    engine.answer = GOOD;
    engine.closes = true;
    try {
      scraper.sources(
          with(
              new Side(
                  engine.port(),
                  (page, readings) -> {
                    reads.countDown();
                    awaitUninterruptibly(reading);
                  })));
      scrape();
      await().until(() -> scraped.size() > 3);
      reads.await();
      pause.set(Duration.ofSeconds(1).toNanos());
      await().until(() -> scraper.sourceFailures() == 1);
      assertThat(unreachable).isEmpty();
    } finally {
      reading.countDown();
    }
  }

  @Test
  void aSourceThatCannotBeAskedIsLeftOut() {
    engine.answer = GOOD;
    scraper.sources(
        with(
            new Side(1, (page, readings) -> {}) {
              @Override
              public Duration interval() {
                throw new IllegalStateException("on purpose");
              }
            }));
    scrape();
    await().until(() -> scraped.size() > 1);
    assertThat(scraped).containsOnly(AS_TOLD);
    assertThat(scraper.sourceFailures()).isEqualTo(1);
  }

  private static List<DataSource> with(DataSource other) {
    return List.of(EnginePages.DEFAULT, other);
  }

  private static EndpointMetrics withSide(double value) {
    return new EndpointMetrics(
        3, 2, .5, -1, -1, "", -1, List.of(), List.of(), Map.of("side", value));
  }

  private static double number(String page) {
    return Double.parseDouble(page);
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Reads a port of its own. */
  private static class Side implements DataSource {
    private final int port;
    private final BiConsumer<String, Readings> reader;

    Side(int port, BiConsumer<String, Readings> reader) {
      this.port = port;
      this.reader = reader;
    }

    @Override
    public String path() {
      return "/side";
    }

    @Override
    public int port(Target endpoint) {
      return port;
    }

    @Override
    public Duration interval() {
      return Duration.ofMillis(10);
    }

    @Override
    public int maxBytes() {
      return 100;
    }

    @Override
    public void read(Target endpoint, String page, Readings readings) {
      reader.accept(page, readings);
    }
  }

  private void scrape() {
    scraper.endpoints(List.of(endpoint("1")));
  }

  private EndpointSpec endpoint(String incarnation) {
    return new EndpointSpec("e", incarnation, "127.0.0.1", engine.port(), Map.of());
  }

  private static String page(String body) {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  /** Sends the answer of the moment to every request; silence to those who get none. */
  private static final class Engine implements Closeable {
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger unanswered = new AtomicInteger();
    final AtomicInteger answered = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();
    volatile String answer = SILENCE;
    volatile boolean closes;
    private final ServerSocket server;
    private final Thread accepting;

    Engine() {
      try {
        server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      accepting = Thread.startVirtualThread(this::accept);
    }

    int port() {
      return server.getLocalPort();
    }

    private void accept() {
      while (!server.isClosed()) {
        try {
          Socket socket = server.accept();
          connections.incrementAndGet();
          Thread.startVirtualThread(() -> serve(socket));
        } catch (IOException e) {
          return; // closed by the test
        }
      }
    }

    private void serve(Socket socket) {
      try (socket;
          BufferedReader in =
              new BufferedReader(
                  new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1))) {
        OutputStream out = socket.getOutputStream();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
          if (line.isEmpty()) {
            String now = answer;
            if (now.equals(HANG_UP)) {
              return;
            }
            if (now.equals(SILENCE)) {
              unanswered.incrementAndGet();
            }
            out.write(now.getBytes(StandardCharsets.ISO_8859_1));
            answered.addAndGet(now.equals(SILENCE) ? 0 : 1);
            if (closes) {
              break;
            }
          }
        }
      } catch (IOException e) {
        // Reset: as good as closed.
      }
      closed.incrementAndGet();
    }

    @Override
    public void close() throws IOException {
      server.close();
      try {
        accepting.join(); // the port refuses only once nobody accepts any more
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
