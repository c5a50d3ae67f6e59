package io.fairlead.stub.server;

import static io.fairlead.stub.server.Stubs.CHAT;
import static io.fairlead.stub.server.Stubs.chat;
import static io.fairlead.stub.server.Stubs.instant;
import static io.fairlead.stub.server.Stubs.slow;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fairlead.stub.profile.EngineProfiles;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Faults that stay in force until they are ended, on real sockets. */
final class LastingFaultsIT {

  private static final String RUNNING = "vllm:num_requests_running{engine=\"0\",model_name=\"m\"}";
  private static final String OUTPUT =
      "vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"}";
  private static final String PROMPTS = "vllm:prompt_tokens_total{engine=\"0\",model_name=\"m\"}";
  private static final String FAULTS = "/stub/faults";

  /** Seconds: so long that a look every tenth of one doesn't pass it over on a busy machine. */
  private static final int SEEN = 5;

  private final Stubs stubs = new Stubs(1);

  @AfterEach
  void stop() {
    stubs.close();
  }

  @Test
  void aRefusingServerEndsConnectionsAndComesBackOnItsPort() throws Exception {
    ModelServer server = stubs.start(slow());
    var inFlight = stubs.send(server, CHAT, chat("m", 10_000));
    await().until(() -> server.stats().running() == 1);

    server.faults().begin(Fault.REFUSE, true);
    assertThatThrownBy(() -> inFlight.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
    await().until(() -> refused(server));
    assertThat(server.stats().running()).isZero();
    assertThat(server.closed()).isNotDone();

    int port = server.address().getPort();
    server.faults().end(Fault.REFUSE);
    await().until(() -> !refused(server));
    assertThat(server.address().getPort()).isEqualTo(port);
    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(200);
    assertThat(server.stats().cancelled()).isEqualTo(1);
    assertThat(server.stats().inFlight()).isZero();
  }

  @Test
  void aServerThatRefusesForAWhileIsAskedOverHttp() throws Exception {
    ModelServer server = stubs.start(instant());
    try (RawClient inside = new RawClient(server)) {
      HttpResponse<String> answer =
          stubs.post(server, FAULTS, "{\"refuse\":true,\"forSeconds\":1}");
      assertThat(answer.body()).isEqualTo("{\"refuse\":true}");

      // Whoever comes too late to be refused sees this still.
      assertThatThrownBy(inside::line)
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(SocketTimeoutException.class);
    }
    await().ignoreExceptions().until(() -> stubs.get(server, FAULTS).body().equals("{}"));
  }

  @Test
  void aKilledServerIsAwayForAWhileAndComesBackEmpty() throws Exception {
    ModelServer server = stubs.start(instant());
    stubs.post(server, CHAT, chat("m", 1));
    server.faults().stall(true);
    stubs.post(server, FAULTS, "{\"restart\":true,\"refuse\":true,\"forSeconds\":" + SEEN + "}");

    await().until(() -> refused(server));
    await().until(() -> !refused(server));
    assertThat(server.stats().requests()).isZero();
    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(200);
  }

  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "who drops a SYN is the system's business")
  void aSwallowingServerLetsNobodyInAndHangsWhoIs() throws Exception {
    ModelServer server = stubs.start(slow());
    try (RawClient inside = new RawClient(server)) {
      inside.send(RawClient.post(CHAT, chat("m", 10_000)));
      await().until(() -> server.stats().running() == 1);
      server.faults().begin(Fault.SWALLOW, true);

      await()
          .untilAsserted(
              () ->
                  assertThatThrownBy(() -> connect(server))
                      .isInstanceOf(SocketTimeoutException.class));
      long tokens = server.stats().outputTokens();
      assertThatThrownBy(() -> connect(server)).isInstanceOf(SocketTimeoutException.class);
      assertThat(server.stats().outputTokens()).isEqualTo(tokens);

      server.faults().clear();
      assertThatThrownBy(inside::line).isInstanceOf(IOException.class);
    }
    // Who tries in the moment before it is open again waits for an answer that does not come.
    await().ignoreExceptions().until(() -> !refused(server));
    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(200);
    assertThat(server.stats().inFlight()).isZero();
  }

  @Test
  void aServerThatStopsWhileItRefusesIsClosed() throws IOException {
    // An address of its own: at 127.0.0.1 another may listen on the port once it is free.
    ThreadLocalRandom random = ThreadLocalRandom.current();
    String host = "127.77.%d.%d".formatted(random.nextInt(1, 255), random.nextInt(1, 255));
    ModelServer server = stubs.start(instant().listen(host, 0));
    server.faults().begin(Fault.REFUSE, true);
    server.close();

    assertThat(server.closed()).isDone();
    server.faults().clear();
    server.close();
    assertThat(refused(server)).isTrue();
  }

  @Test
  void aShareFailsFastAndTheRestIsServed() throws Exception {
    ModelServer server = stubs.start(instant());
    stubs.post(server, FAULTS, "{\"errorShare\":0.5,\"errorBody\":false}");
    int failed = 0;
    for (int i = 0; i < 20; i++) {
      HttpResponse<String> answer = stubs.post(server, CHAT, chat("m", 1));
      if (answer.statusCode() == 500) {
        failed++;
        assertThat(answer.body()).isEmpty();
      } else {
        assertThat(answer.statusCode()).isEqualTo(200);
      }
    }
    assertThat(failed).isBetween(9, 11);
    assertThat(server.stats().failed()).isEqualTo(failed);
  }

  @Test
  void aCompletionFailsAfterAWhileUnlessItsClientLeaves() throws Exception {
    ModelServer server = stubs.start(instant());
    server.faults().begin(Map.of(Fault.ERROR_SHARE, 1, Fault.ERROR_AFTER_SECONDS, 0.2));
    long begin = System.nanoTime();
    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(500);
    assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(200_000_000);

    server.faults().begin(Fault.ERROR_AFTER_SECONDS, 3_600);
    try (RawClient leaving = new RawClient(server)) {
      leaving.send(RawClient.post(CHAT, chat("m", 1)));
      await().until(() -> server.stats().inFlight() == 1);
    }
    await().until(() -> server.stats().inFlight() == 0);
    assertThat(server.stats().cancelled()).isEqualTo(1);
  }

  @Test
  void aSlowedEngineTakesThatManyTimesAsLong() throws Exception {
    // A step of some 8 ms; slowed, it would take minutes.
    ModelServer server =
        stubs.start(instant().timeScale(1).profile(EngineProfiles.shipped().named("h100-8b")));
    server.faults().begin(Fault.SLOWED_BY, 100_000);
    var slowed = stubs.send(server, CHAT, chat("m", 3));
    await().until(() -> server.stats().running() == 1);
    assertThat(stubs.metric(server, OUTPUT)).isZero();

    server.faults().end(Fault.SLOWED_BY);
    assertThat(slowed.get(60, TimeUnit.SECONDS).body()).contains("\"completion_tokens\":3,");
  }

  @Test
  void aDrainingServerRefusesWhatIsNewAndFinishesWhatItHas() throws Exception {
    ModelServer server = stubs.start(slow());
    // It has not finished before the server drains.
    server.faults().begin(Fault.SLOWED_BY, 100_000);
    var inFlight = stubs.send(server, CHAT, chat("m", 3));
    await().until(() -> server.stats().running() == 1);
    server.faults().begin(Fault.DRAIN, true);

    HttpResponse<String> refused = stubs.post(server, CHAT, chat("m", 1));
    assertThat(refused.statusCode()).isEqualTo(500);
    assertThat(refused.body()).isEmpty();
    assertThat(stubs.get(server, "/health").statusCode()).isEqualTo(200);
    server.faults().end(Fault.SLOWED_BY);
    assertThat(inFlight.get(60, TimeUnit.SECONDS).body()).contains("\"completion_tokens\":3,");

    server.faults().clear();
    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(200);
  }

  @Test
  void aFrozenEnginesCountersStandStill() throws Exception {
    ModelServer server = stubs.start(slow());
    // Minutes, so that it has not finished before the engine freezes.
    var inFlight = stubs.send(server, CHAT, chat("m", 2_000));
    await().until(() -> stubs.metric(server, OUTPUT) > 2);
    server.faults().stall(true);
    double output = stubs.metric(server, OUTPUT);
    double prompts = stubs.metric(server, PROMPTS);
    var taken = stubs.send(server, CHAT, chat("m", 1));
    await().until(() -> server.stats().inFlight() == 2);

    assertThat(stubs.metric(server, RUNNING)).isEqualTo(1);
    assertThat(stubs.metric(server, OUTPUT)).isEqualTo(output);
    assertThat(stubs.metric(server, PROMPTS)).isEqualTo(prompts);
    server.faults().clear();
    server.faults().begin(Fault.SLOWED_BY, 0.01);
    assertThat(inFlight.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    assertThat(taken.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    assertThat(stubs.metric(server, PROMPTS)).isGreaterThan(prompts);
  }

  @Test
  void aMuteServerAnswersNothingButCompletions() throws Exception {
    ModelServer server = stubs.start(instant());
    server.faults().begin(Fault.MUTE, true);
    var health = CompletableFuture.supplyAsync(() -> status(server, "/health"));
    var metrics = CompletableFuture.supplyAsync(() -> status(server, "/metrics"));

    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(200);
    assertThat(health).isNotDone();
    assertThat(metrics).isNotDone();
    server.close();
    assertThat(health.get(60, TimeUnit.SECONDS)).isEqualTo(-1);
    assertThat(metrics.get(60, TimeUnit.SECONDS)).isEqualTo(-1);
  }

  @Test
  void healthAndMetricsCanLie() throws Exception {
    ModelServer server = stubs.start(instant());
    stubs.post(server, FAULTS, "{\"healthStatus\":503,\"metricsStatus\":404}");

    assertThat(stubs.get(server, "/health").statusCode()).isEqualTo(503);
    assertThat(stubs.get(server, "/metrics").statusCode()).isEqualTo(404);
    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(200);
  }

  @Test
  void whatIsWrongWithATimeIsTold() throws Exception {
    ModelServer server = stubs.start(instant());

    assertThat(stubs.post(server, FAULTS, "{\"stall\":true,\"forSeconds\":0}").body())
        .contains("forSeconds: 0 is not above 0 and up to 86400");
    assertThat(stubs.post(server, FAULTS, "{\"restart\":true,\"forSeconds\":5}").body())
        .contains("forSeconds: names no fault that could end");
    assertThat(stubs.post(server, FAULTS, "{\"stal\":true}").body())
        .contains("stal: no such fault; known: resetNext, errorNext, ")
        .contains(", kill, forSeconds");
    assertThat(server.faults().state()).isEqualTo(FaultState.NONE);
  }

  private static void connect(ModelServer server) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(server.address(), 300);
    }
  }

  private static boolean refused(ModelServer server) {
    try {
      connect(server);
      return false;
    } catch (ConnectException e) {
      return true;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private int status(ModelServer server, String path) {
    try {
      return stubs.get(server, path).statusCode();
    } catch (IOException | InterruptedException e) {
      return -1;
    }
  }
}
