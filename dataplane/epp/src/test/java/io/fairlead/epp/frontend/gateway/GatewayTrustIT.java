package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.QueueSnapshot.Band;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.FlowTrust;
import io.fairlead.crds.config.FlowTrust.Mode;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whose headers for flow control count that come from clients themselves. */
@ExtendWith(NoLeaks.class)
class GatewayTrustIT {

  private static final String SECRET = "5e77ff3a9c";

  /** Of the secret. */
  private static final String DIGEST =
      "9688686bedacbf712cf7dc6c9acb6cac5fa296497933db6fecc3fa5c02e265b4";

  private static final String URGENT = "X-Gateway-Inference-Objective: urgent\r\n";

  private final Semaphore answers = new Semaphore(0);

  private RawBackend backend() throws IOException {
    return new RawBackend(
        "a",
        (connection, request) -> {
          answers.acquire();
          connection.respond(200, "", "{}");
        });
  }

  private static void queue(Rig rig, @Nullable FlowTrust trust) {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L))),
            List.of(),
            "room",
            Map.of("flowControl", true),
            null,
            null,
            List.of());
    RequestsConfig usual = RequestsConfig.DEFAULT;
    PoolConfig config =
        new PoolConfig(
            "n",
            "p",
            Map.of(),
            List.of(1),
            "http",
            List.of(),
            List.of(new ObjectiveConfig("urgent", 5)),
            trust == null ? usual : usual.withTrustFlowHeaders(trust),
            scheduler);
    rig.pool.configure(new ConfigCompiler(List.of()).compile(config)).syncUninterruptibly();
  }

  private static void post(RawHttp client, String headers) throws IOException {
    client.send(
        "POST "
            + Rig.CHAT
            + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
            + headers
            + "Content-Length: "
            + Rig.BODY.length()
            + "\r\n\r\n"
            + Rig.BODY);
  }

  /** The priorities of those that wait. */
  private static List<Long> waiting(Rig rig) throws Exception {
    return rig.pool.queues().get().bands().stream()
        .filter(band -> band.waiting() > 0)
        .map(Band::priority)
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    ",,0",
    "ALL,,5",
    "NONE,,0",
    "NONE," + SECRET + ",0",
    "SECRET,,0",
    "SECRET,wrong,0",
    "SECRET," + SECRET + ",5"
  })
  void anObjectiveCountsWhereItIsTrustedAndNobodyBehindSeesTheSecret(
      @Nullable Mode mode, @Nullable String secret, long priority) throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      queue(rig, mode == null ? null : new FlowTrust(Mode.ALL, mode, DIGEST));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      String brought = secret == null ? "" : "X-Fairlead-Trust-Secret: " + secret + "\r\n";
      post(second, brought + URGENT);
      await().until(() -> !waiting(rig).isEmpty());
      assertThat(waiting(rig)).containsExactly(priority);
      if (priority == 0) {
        assertThat(rig.events).contains("flow header ignored: untrusted");
      } else {
        assertThat(rig.events).noneMatch(event -> event.startsWith("flow header"));
      }
      answers.release(2);
      assertThat(second.read().status()).isEqualTo(200);
      assertThat(backend.requests).hasSize(2);
      assertThat(backend.requests)
          .allSatisfy(
              request ->
                  assertThat(request.headers().keySet())
                      .map(name -> name.toLowerCase(Locale.ROOT))
                      .doesNotContain("x-fairlead-trust-secret"));
    }
  }

  /** What a client says beside what its gateway put in. */
  @ParameterizedTest
  @CsvSource({
    "X-Gateway-Inference-Objective: urgent,X-Llm-D-Inference-Objective: batch,0",
    "X-Gateway-Inference-Objective: batch,X-Llm-D-Inference-Objective: urgent,0",
    "X-Gateway-Inference-Objective: urgent,X-Gateway-Inference-Objective: batch,0",
    "'X-Llm-D-Inference-Objective: foo\r\nX-Llm-D-Inference-Objective: batch',X-Gateway-Inference-Objective: urgent,0",
    "X-Gateway-Inference-Objective: urgent,X-Llm-D-Inference-Objective: urgent,5",
    "X-Gateway-Inference-Objective: urgent,X-Gateway-Inference-Objective: urgent,5"
  })
  void anObjectiveThatIsSaidTwiceCountsWhereBothSayTheSame(String one, String other, long priority)
      throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      queue(rig, new FlowTrust(Mode.ALL, Mode.SECRET, DIGEST));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      post(second, "X-Fairlead-Trust-Secret: %s\r\n%s\r\n%s\r\n".formatted(SECRET, one, other));
      await().until(() -> !waiting(rig).isEmpty());
      assertThat(waiting(rig)).containsExactly(priority);
      String ignored = "flow header ignored: invalid";
      if (priority == 0) {
        assertThat(rig.events).contains(ignored);
      } else {
        assertThat(rig.events).doesNotContain(ignored);
      }
      answers.release(2);
      assertThat(second.read().status()).isEqualTo(200);
    }
  }

  @Test
  void eachFairnessIdHasItsTurn() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect()) {
      queue(rig, new FlowTrust(Mode.ALL, Mode.ALL, null));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      List<RawHttp> clients = new ArrayList<>();
      for (String id : List.of("red", "red", "red", "blue")) {
        RawHttp client = rig.connect();
        clients.add(client);
        post(client, "X-Gateway-Inference-Fairness-Id: " + id + "\r\nX-Mine: " + id + "\r\n");
        await().until(() -> rig.pool.queues().get().waiting() == clients.size());
      }
      answers.release(5);
      for (RawHttp client : clients) {
        assertThat(client.read().status()).isEqualTo(200);
        client.close();
      }
      assertThat(backend.requests.stream().skip(1).map(request -> request.header("x-mine")))
          .as("not after all that came before")
          .startsWith("red", "blue");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "ALL,200ms,timed out,",
    "NONE,200ms,waits,untrusted",
    "ALL,10h,waits,",
    "ALL,0s,waits,invalid",
    "ALL,-1s,waits,invalid",
    "ALL,soon,waits,invalid",
    "ALL,1000000000000000000000000000000000000000000000s,waits,invalid"
  })
  void aWaitIsShortenedWhereThatIsTrustedAndMakesSense(
      Mode mode, String ttl, String end, @Nullable String ignored) throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      queue(rig, new FlowTrust(Mode.ALL, mode, null));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      post(second, "X-Fairlead-Queue-Ttl: " + ttl + "\r\n");
      if (end.equals("timed out")) {
        RawHttp.Message refused = second.read();
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("x-fairlead-reject-reason")).isEqualTo("queue_timeout");
        answers.release();
      } else {
        await().until(() -> rig.pool.queues().get().waiting() == 1);
        answers.release(2);
        assertThat(second.read().status()).isEqualTo(200);
        assertThat(backend.requests)
            .allSatisfy(
                request -> assertThat(request.header("x-fairlead-queue-ttl")).isNullOrEmpty());
      }
      if (ignored == null) {
        assertThat(rig.events).noneMatch(event -> event.startsWith("flow header"));
      } else {
        assertThat(rig.events).contains("flow header ignored: " + ignored);
      }
    }
  }
}
