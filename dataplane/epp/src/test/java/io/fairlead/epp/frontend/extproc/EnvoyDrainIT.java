package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of the clients of a real Envoy when its picker ends. */
class EnvoyDrainIT {

  /** The server stands still until a test has it go on: nobody waits for room there. */
  private static final SchedulerConfig AT_ONCE =
      new SchedulerConfig(
          List.of(), List.of(), null, Map.of("flowControl", false), null, null, List.of());

  private static final String BODY =
      "{\"model\":\"chat\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final Duration LONG = Duration.ofSeconds(25);

  /** As many tokens as there are: a server that does not stop before the end. */
  private static final int NEVER = 21;

  /** How long such a server takes: as long as nothing must come before a stream is left. */
  private static final Duration QUICK = Duration.ofMillis(3);

  /** Streams of each kind. */
  private static final int MANY = 10;

  @TempDir private Path folder;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final TestPool pool = new TestPool(loops.next()).configured(AT_ONCE);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private RawBackend backend;
  private ExtProcServer picker;
  private Envoy envoy;

  @BeforeEach
  void start() throws Exception {
    backend = new RawBackend("a", this::answer);
    pool.endpoints(backend.spec());
    picker =
        ExtProcServer.start(
            new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.PlainText(), 1 << 20, false),
            pool.loop,
            BodyBudget.ofHeap(),
            loops,
            new Health());
    envoy = Envoy.start(picker.port(), false, folder);
  }

  @AfterEach
  void stop() throws IOException {
    goOn.countDown();
    envoy.close();
    picker.close();
    backend.close();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  /** Stops after so many tokens, or before its headers, until the picker is gone. */
  private void answer(RawHttp connection, RawHttp.Message request) throws Exception {
    int before = Integer.parseInt(request.header("x-tokens-before"));
    if (before < 0) {
      goOn.await();
    }
    if (before == NEVER) {
      LockSupport.parkNanos(QUICK.toNanos());
    }
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 20; i++) {
      if (i == before) {
        goOn.await();
      }
      connection.chunk("data: token " + i + "\n\n");
    }
    connection.chunk("data: [DONE]\n\n");
    connection.chunk("");
  }

  private static String whole() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 20; i++) {
      text.append("data: token ").append(i).append("\n\n");
    }
    return text.append("data: [DONE]\n\n").toString();
  }

  private RawHttp ask(int tokensBefore, String body) throws IOException {
    RawHttp client = RawHttp.connect(envoy.url().getPort());
    client.send(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            + "X-Tokens-Before: %d\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(tokensBefore, BODY.length(), body));
    return client;
  }

  private CompletableFuture<Boolean> drain(Duration lameDuck, Duration bound) {
    return CompletableFuture.supplyAsync(
        () -> picker.drain(lameDuck, bound), Thread::startVirtualThread);
  }

  private static void assertWhole(List<RawHttp> clients) throws IOException {
    for (RawHttp client : clients) {
      assertThat(client.read().text()).isEqualTo(whole());
      client.close();
    }
  }

  @Test
  void answersGoOnWithoutThePickerWhereverTheyAre() throws Exception {
    List<RawHttp> clients = new ArrayList<>();
    for (int tokensBefore : new int[] {-1, 0, 1, 10}) {
      for (int i = 0; i < MANY; i++) {
        clients.add(ask(tokensBefore, BODY));
      }
    }
    await().until(() -> backend.requests.size() == clients.size());
    List<RawHttp> late = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      late.add(ask(0, BODY.substring(0, 20)));
    }
    await().until(() -> picker.counters().active() == clients.size() + MANY);

    CompletableFuture<Boolean> drained = drain(Duration.ZERO, LONG);
    await().until(() -> picker.counters().active() == MANY);
    assertThat(drained).as("bodies are still coming").isNotDone();
    for (RawHttp client : late) {
      client.send(BODY.substring(20));
    }
    assertThat(drained.get(30, TimeUnit.SECONDS)).as("before the bound").isTrue();

    goOn.countDown();
    assertWhole(clients);
    assertWhole(late);
    assertThat(envoy.stats("ext_proc.streams_failed")).contains("streams_failed: 0");
    assertThat(pool.active()).as("nobody saw their ends").isEqualTo(clients.size() + MANY);
  }

  /** Envoy would lose what it has shown to a picker that ends the stream just then. */
  @Test
  void answersThatBeginJustAfterTheirRequestsAreSentAreWhole() throws Exception {
    List<RawHttp> clients = new ArrayList<>();
    for (int i = 0; i < 10 * MANY; i++) {
      clients.add(ask(NEVER, BODY.substring(0, 20)));
    }
    RawHttp sent = ask(-1, BODY);
    await().until(() -> backend.requests.size() == 1);
    await().until(() -> picker.counters().active() == clients.size() + 1);
    CompletableFuture<Boolean> drained = drain(Duration.ZERO, LONG);
    await("streams are told to end").until(() -> picker.counters().active() == clients.size());
    for (RawHttp client : clients) {
      client.send(BODY.substring(20));
    }
    assertWhole(clients);
    goOn.countDown();
    assertWhole(List.of(sent));
    assertThat(drained.get(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void newRequestsAreTakenWhileItIsALameDuck() throws Exception {
    CompletableFuture<Boolean> drained = drain(LONG, LONG);
    List<RawHttp> clients = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      clients.add(ask(0, BODY));
    }
    await().until(() -> backend.requests.size() == MANY && picker.counters().active() == 0);
    assertThat(drained).isNotDone();
    goOn.countDown();
    assertWhole(clients);
  }

  @Test
  void aRequestThatIsNotWholeAtTheBoundIsRefused() throws Exception {
    RawHttp client = ask(0, BODY.substring(0, 20));
    await().until(() -> picker.counters().active() == 1);

    assertThat(drain(Duration.ZERO, Duration.ofMillis(1)).get(30, TimeUnit.SECONDS)).isFalse();

    RawHttp.Message answer = client.read();
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.text()).contains("\"code\":\"shutting_down\"");
    client.close();
  }
}
