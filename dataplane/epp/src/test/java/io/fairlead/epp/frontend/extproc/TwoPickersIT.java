package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.crds.testing.FreePort;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two pickers, each in a process of its own, behind one real Envoy: a rolling update, and one that
 * is killed. {@code ./hack/load rolling} and {@code kill} run it with a thousand streams of a
 * minute.
 */
@SuppressWarnings("NullAway.Init") // each test starts its own
class TwoPickersIT {

  private static final int STREAMS = Integer.getInteger("fairlead.stress.streams", 100);
  private static final Duration LASTING =
      Duration.ofSeconds(Integer.getInteger("fairlead.stress.seconds", 5));
  private static final long BETWEEN_CHUNKS_MILLIS = 250;

  /** Of short requests, whether those before have been answered or not. */
  private static final int REQUESTS_PER_SECOND = 200;

  /**
   * How long after a kill requests may fail that begin then; on a busy machine all takes longer.
   */
  private static final Duration FAILING =
      Duration.ofMillis(Integer.getInteger("fairlead.stress.failing", 5_000));

  /** Longer than it takes Envoy to see that a picker is about to end, on a busy machine too. */
  private static final Duration LAME_DUCK = Duration.ofSeconds(5);

  /**
   * Long to time out: on a busy machine both pickers may answer late, and none would be left. One
   * that ends says so at once, and the connection of one that is killed breaks.
   */
  private static final String HEALTH_CHECKS =
      """
          health_checks:
          - timeout: 10s
            interval: 0.25s
            no_traffic_interval: 0.25s
            unhealthy_threshold: 1
            healthy_threshold: 1
            grpc_health_check: {service_name: envoy.service.ext_proc.v3.ExternalProcessor}
          common_lb_config:
            healthy_panic_threshold: {value: 0}
      """;

  @TempDir private Path folder;

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch over = new CountDownLatch(1);

  /** Requests that a server got. */
  private final Set<String> dispatched = ConcurrentHashMap.newKeySet();

  private final Map<String, Failure> failed = new ConcurrentHashMap<>();
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicBoolean stopAsking = new AtomicBoolean();
  private final List<PickerToKill> pickers = new ArrayList<>();

  /**
   * @param begun on the clock that never jumps, in ns
   */
  private record Failure(String how, long begun) {}

  private RawBackend backend;
  private Path endpoints;
  private Envoy envoy;
  private int third;
  private long opened;
  private boolean leaveAfterPick;

  @BeforeEach
  void startBackend() throws IOException {
    backend = new RawBackend("a", this::answer);
    endpoints =
        Files.writeString(
            folder.resolve("endpoints.yaml"),
            "endpoints: [{name: a, address: 127.0.0.1, port: %d}]\n"
                .formatted(backend.spec().port()));
  }

  @AfterEach
  void stop() throws IOException {
    over.countDown();
    stopAsking.set(true);
    threads.close();
    pickers.forEach(PickerToKill::close); // also where there is no Envoy yet
    backend.close();
    envoy.close();
  }

  private void answer(RawHttp connection, RawHttp.Message request) throws Exception {
    backend.requests.clear(); // they need not be kept
    if (!request.start().startsWith("POST")) {
      connection.respond(200, "", "");
      return;
    }
    dispatched.add(request.header("x-id"));
    if (!request.text().contains("\"stream\":true")) {
      connection.respond(200, "content-type: application/json\r\n", "{\"model\":\"m\"}");
      return;
    }
    connection.send(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    do {
      connection.chunk("data: {\"model\":\"m\"}\n\n");
    } while (!over.await(BETWEEN_CHUNKS_MILLIS, TimeUnit.MILLISECONDS));
    connection.chunk("data: [DONE]\n\n");
    connection.chunk("");
  }

  /** Two pickers, and the port that a third may take, behind an Envoy that looks after them. */
  private void start(boolean leave) throws Exception {
    leaveAfterPick = leave;
    pickers.add(picker(FreePort.find()));
    pickers.add(picker(FreePort.find()));
    third = FreePort.find();
    int first = pickers.get(0).port();
    envoy = Envoy.start(first, false, folder, config -> withThree(config, first));
    awaitHealthy(2);
  }

  private String withThree(String bootstrap, int first) {
    int cluster = bootstrap.indexOf("  - name: picker\n");
    String picker = bootstrap.substring(cluster).stripTrailing();
    int at = picker.lastIndexOf("        - endpoint:");
    String endpoint = "\n" + picker.substring(at);
    return bootstrap.substring(0, cluster)
        + picker.replace("    connect_timeout: 1s\n", "    connect_timeout: 1s\n" + HEALTH_CHECKS)
        + endpoint.replace("port_value: " + first, "port_value: " + pickers.get(1).port())
        + endpoint.replace("port_value: " + first, "port_value: " + third)
        + "\n";
  }

  private PickerToKill picker(int port) throws IOException {
    return PickerToKill.start(endpoints, leaveAfterPick, false, port, LAME_DUCK);
  }

  private void awaitHealthy(int many) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> envoy.stats("cluster.picker.membership_healthy").contains(": " + many));
  }

  private List<Future<String>> openStreams() {
    List<Future<String>> streams = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      String id = "stream-" + i;
      streams.add(threads.submit(() -> stream(id)));
    }
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> dispatched.stream().filter(id -> id.startsWith("stream-")).count() == STREAMS);
    opened = System.nanoTime();
    return streams;
  }

  /** A streamed answer, or how it was cut. */
  private String stream(String id) {
    StringBuilder got = new StringBuilder();
    try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
      post(client, id, true);
      RawHttp.Message head = client.readHead();
      if (head.status() != 200) {
        return "status " + head.status();
      }
      for (String chunk = client.readChunk(); !chunk.isEmpty(); chunk = client.readChunk()) {
        got.append(chunk);
      }
      return got.toString().endsWith("data: [DONE]\n\n") ? "whole" : "ended early";
    } catch (IOException e) {
      return "cut: " + e.getMessage();
    }
  }

  private static void post(RawHttp client, String id, boolean stream) throws IOException {
    String body =
        "{\"model\":\"m\",\"stream\":%s,\"messages\":[{\"content\":\"hi\"}]}".formatted(stream);
    client.send(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            + "X-Id: %s\r\nContent-Length: %d\r\n\r\n%s".formatted(id, body.length(), body));
  }

  /** Asks for short answers until told to stop, waiting for none of them. */
  private void askMeanwhile() {
    threads.execute(
        () -> {
          long next = System.nanoTime();
          while (!stopAsking.get()) {
            threads.execute(this::ask);
            next += TimeUnit.SECONDS.toNanos(1) / REQUESTS_PER_SECOND;
            LockSupport.parkNanos(next - System.nanoTime());
          }
        });
    awaitMore(50);
  }

  private void ask() {
    long begun = System.nanoTime();
    String id = "short-" + asked.incrementAndGet();
    try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
      post(client, id, false);
      int status = client.read().status();
      if (status != 200) {
        failed.put(id, new Failure("status " + status, begun));
      }
    } catch (IOException e) {
      failed.put(id, new Failure(String.valueOf(e), begun));
    }
  }

  private void awaitMore(int requests) {
    int before = asked.get();
    await().atMost(Duration.ofMinutes(1)).until(() -> asked.get() > before + requests);
  }

  private void assertAllWhole(List<Future<String>> streams) throws Exception {
    await()
        .atMost(LASTING.plusMinutes(1))
        .until(() -> System.nanoTime() - opened > LASTING.toNanos());
    over.countDown();
    for (Future<String> stream : streams) {
      assertThat(stream.get()).isEqualTo("whole");
    }
  }

  @Test
  void aRollingUpdateCutsNoStreamAndFailsNoRequest() throws Exception {
    start(false);
    List<Future<String>> streams = openStreams();
    askMeanwhile();
    pickers.add(picker(third)); // as a Deployment does it: the new one first
    awaitHealthy(3);
    int freed = pickers.get(0).port();
    pickers.get(0).terminate();
    awaitHealthy(2);
    pickers.add(picker(freed));
    awaitHealthy(3);
    pickers.get(1).terminate();
    awaitHealthy(2);
    awaitMore(200);
    stopAsking.set(true);
    assertAllWhole(streams);
    System.out.printf(
        "both pickers replaced under %d open streams: all whole; of %d short requests %d failed%n",
        STREAMS, asked.get(), failed.size());
    assertThat(failed).isEmpty();
  }

  @Test
  void aKillFailsOnlyWhatIsNotPicked() throws Exception {
    start(true);
    List<Future<String>> streams = openStreams();
    askMeanwhile();
    killOne();
    assertAllWhole(streams);
    assertThat(failed.keySet()).doesNotContainAnyElementsOf(dispatched);
  }

  /**
   * Those of the other picker go on, and so does whatever comes. Which streams are where, and
   * whether any are, is Envoy's to say: of a burst it may send all to one.
   */
  @Test
  void aKillFailsOnlyWhatIsInFlightInThatPicker() throws Exception {
    start(false);
    List<Future<String>> streams = openStreams();
    askMeanwhile();
    killOne();
    long cut = streams.stream().filter(Future::isDone).count();
    over.countDown();
    List<String> ends = new ArrayList<>();
    for (Future<String> stream : streams) {
      ends.add(stream.get());
    }
    assertThat(ends).filteredOn(end -> !end.equals("whole")).hasSize((int) cut);
    System.out.printf("%d of %d streams were at the picker that was killed%n", cut, STREAMS);
  }

  /** And looks at what failed of the short requests, when all goes well again. */
  private void killOne() throws Exception {
    long killed = System.nanoTime();
    pickers.getFirst().kill();
    awaitHealthy(1);
    awaitMore(200);
    stopAsking.set(true);
    long last = failed.values().stream().mapToLong(Failure::begun).max().orElse(killed) - killed;
    System.out.printf(
        "one of two pickers killed under %d open streams and %d short requests a second: of %d short requests %d failed %s, the last of them begun %d ms after the kill%n",
        STREAMS,
        REQUESTS_PER_SECOND,
        asked.get(),
        failed.size(),
        failed.values().stream().map(Failure::how).collect(Collectors.toCollection(TreeSet::new)),
        TimeUnit.NANOSECONDS.toMillis(last));
    assertThat(Duration.ofNanos(last)).isLessThanOrEqualTo(FAILING);
  }
}
