package io.fairlead.stub.server;

import static io.fairlead.stub.server.Stubs.CHAT;
import static io.fairlead.stub.server.Stubs.chat;
import static io.fairlead.stub.server.Stubs.instant;
import static io.fairlead.stub.server.Stubs.json;
import static io.fairlead.stub.server.Stubs.slow;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What real engines were seen to do when they hang, stop and die, and faults made on demand. */
final class EngineBehaviourIT {

  private static final String RUNNING = "vllm:num_requests_running{engine=\"0\",model_name=\"m\"}";
  private static final String FAULTS = "/stub/faults";

  private final Stubs stubs = new Stubs(1);

  @AfterEach
  void stop() {
    stubs.close();
  }

  @Test
  void aVllmThatMayFinishRefusesWhatIsNewAndLooksHealthy() throws Exception {
    ModelServer server = stubs.start(slow());
    // Nothing is finished before we have looked around.
    server.faults().begin(Fault.SLOWED_BY, 100_000);
    var inFlight = stubs.send(server, CHAT, chat("m", 3));
    await().until(() -> server.stats().running() == 1);
    var drained = CompletableFuture.runAsync(() -> server.drain(Duration.ofSeconds(60)));

    List<CompletableFuture<HttpResponse<String>>> tries = new ArrayList<>();
    await()
        .until(
            () -> {
              tries.add(stubs.send(server, CHAT, chat("m", 1)));
              return tries.stream().anyMatch(answer -> answer.isDone());
            });
    assertThat(stubs.get(server, "/health").statusCode()).isEqualTo(200);
    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(500);
    assertThat(inFlight).isNotDone();
    server.faults().end(Fault.SLOWED_BY);
    assertThat(inFlight.get(60, TimeUnit.SECONDS).body()).contains("\"completion_tokens\":3,");
    drained.get(60, TimeUnit.SECONDS);
    assertThatThrownBy(() -> stubs.get(server, "/health")).isInstanceOf(ConnectException.class);
  }

  @Test
  void anSglangThatMayFinishLooksUnhealthyAndTakesWhatIsNew() throws Exception {
    ModelServer server = stubs.start(slow().engine(EngineKind.SGLANG));
    server.faults().begin(Fault.SLOWED_BY, 100_000);
    var inFlight = stubs.send(server, CHAT, chat("m", 3));
    await().until(() -> server.stats().running() == 1);
    var drained = CompletableFuture.runAsync(() -> server.drain(Duration.ofSeconds(60)));

    await().until(() -> stubs.get(server, "/health").statusCode() == 503);
    var taken = stubs.send(server, CHAT, chat("m", 1));
    await().until(() -> server.stats().inFlight() == 2);
    server.faults().end(Fault.SLOWED_BY);
    assertThat(inFlight.get(60, TimeUnit.SECONDS).body()).contains("\"completion_tokens\":3,");
    assertThat(taken.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    drained.get(60, TimeUnit.SECONDS);
  }

  @Test
  void whatIsLeftAfterTheTimeoutIsAborted() throws Exception {
    ModelServer server = stubs.start(slow());
    var inFlight = stubs.send(server, CHAT, chat("m", 10_000));
    await().until(() -> server.stats().running() == 1);
    server.drain(Duration.ofMillis(1));

    assertThat(inFlight.get(60, TimeUnit.SECONDS).body()).contains("\"finish_reason\":\"abort\"");
    server.closed().get(60, TimeUnit.SECONDS);
  }

  @Test
  void aKilledEngineFailsItsRequestsAndTakesTheServerWithIt() throws Exception {
    // A twentieth of real time: silent after 200 ms, gone after 350 ms.
    ModelServer server = stubs.start(slow().timeScale(0.05));
    var inFlight = stubs.send(server, CHAT, chat("m", 30_000));
    await().until(() -> stubs.metric(server, RUNNING) == 1);
    server.faults().kill();

    assertThat(inFlight.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(500);
    server.closed().get(60, TimeUnit.SECONDS);
    assertThatThrownBy(() -> stubs.get(server, "/health")).isInstanceOf(ConnectException.class);
    assertThat(server.stats().failed()).isEqualTo(1);
  }

  @Test
  void aDeadEngineIsUnhealthyAndItsMetricsRepeatThemselves() throws Exception {
    // Its page shows the request after a step of more than a second, and is silent after 80 s.
    ModelServer server = stubs.start(slow().timeScale(20));
    var inFlight = stubs.send(server, CHAT, chat("m", 30_000));
    await().until(() -> stubs.metric(server, RUNNING) == 1);
    assertThat(stubs.post(server, FAULTS, "{\"kill\":true}").statusCode()).isEqualTo(200);

    assertThat(inFlight.get(60, TimeUnit.SECONDS).body()).contains("The engine is dead.");
    assertThat(stubs.get(server, "/health").statusCode()).isEqualTo(503);
    assertThat(stubs.metric(server, RUNNING)).isEqualTo(1);
    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(500);
  }

  @Test
  void aRestartLosesRequestsCacheCountersAndFaults() throws Exception {
    ModelServer server =
        stubs.start(slow().timeScale(0.01).maxAdapters(1).promptTokensDetails(true));
    String prompt = chat("m", 1).replace("Hello", "x".repeat(1_000));
    stubs.post(server, CHAT, prompt);
    assertThat(cached(stubs.post(server, CHAT, prompt).body())).isPositive();
    double started = stubs.metric(server, "process_start_time_seconds");
    stubs.post(server, "/v1/load_lora_adapter", "{\"lora_name\":\"x\",\"lora_path\":\"x\"}");
    server.faults().stall(true);
    var inFlight = stubs.send(server, CHAT, chat("m", 1));
    await().until(() -> server.stats().inFlight() == 1);
    await().until(() -> System.currentTimeMillis() / 1000.0 > started);
    assertThat(stubs.post(server, FAULTS, "{\"restart\":true}").statusCode()).isEqualTo(200);

    assertThatThrownBy(() -> inFlight.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
    await().until(() -> server.stats().requests() == 0);
    assertThat(stubs.metric(server, "process_start_time_seconds")).isGreaterThan(started);
    assertThat(server.faults().state()).isEqualTo(FaultState.NONE);
    assertThat(stubs.get(server, "/v1/models").body()).doesNotContain("\"id\":\"x\"");
    assertThat(cached(stubs.post(server, CHAT, prompt).body())).isZero();
    assertThat(server.stats().completed()).isEqualTo(1);
  }

  @Test
  void aCacheIsResetOnDemand() throws Exception {
    ModelServer server = stubs.start(instant().promptTokensDetails(true));
    String prompt = chat("m", 1).replace("Hello", "x".repeat(1_000));
    stubs.post(server, CHAT, prompt);
    assertThat(cached(stubs.post(server, CHAT, prompt).body())).isPositive();
    stubs.post(server, FAULTS, "{\"resetCache\":true}");
    assertThat(cached(stubs.post(server, CHAT, prompt).body())).isZero();
    assertThat(stubs.post(server, FAULTS, "{\"resetCache\":false}").body())
        .contains("resetCache: happens once; only true is of use");
  }

  @Test
  void metricsAreSlowOnDemandAndRequestsAreNot() throws Exception {
    ModelServer server = stubs.start(instant());
    stubs.post(server, FAULTS, "{\"metricsDelayMillis\":200}");
    long begin = System.nanoTime();
    assertThat(stubs.metric(server, RUNNING)).isZero();
    assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(200_000_000);

    stubs.post(server, FAULTS, "{\"metricsDelayMillis\":3600000}");
    var page = CompletableFuture.supplyAsync(() -> page(server));
    assertThat(stubs.post(server, CHAT, chat("m", 1)).statusCode()).isEqualTo(200);
    assertThat(page).isNotDone();
    server.close();
  }

  @Test
  void aHungEngineKeepsItsRequestsAndGoesOnWhereItWas() throws Exception {
    ModelServer server = stubs.start(slow().timeScale(0.01));
    server.faults().stall(true);
    var first = stubs.send(server, CHAT, chat("m", 5));
    await().until(() -> server.stats().inFlight() == 1);
    assertThat(stubs.get(server, "/health").statusCode()).isEqualTo(200);
    assertThat(stubs.metric(server, RUNNING)).isZero();
    assertThat(stubs.metric(server, RUNNING.replace("running", "waiting"))).isZero();
    server.faults().clear();
    assertThat(first.get(60, TimeUnit.SECONDS).body()).contains("\"completion_tokens\":5,");
  }

  @Test
  void sglangsPageHasWhatThePickerReads() throws Exception {
    ModelServer server = stubs.start(slow().engine(EngineKind.SGLANG));
    var _ = stubs.send(server, CHAT, chat("m", 10_000));
    String labels =
        "{engine_type=\"unified\",model_name=\"m\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"";
    await().until(() -> stubs.metric(server, "sglang:num_running_reqs" + labels + "}") == 1);

    assertThat(stubs.metric(server, "sglang:num_queue_reqs" + labels + "}")).isZero();
    double used = stubs.metric(server, "sglang:num_used_tokens" + labels + "}");
    await().until(() -> stubs.metric(server, "sglang:num_used_tokens" + labels + "}") > used);
    assertThat(stubs.metric(server, "sglang:token_usage" + labels + "}")).isLessThan(0.05);
    assertThat(stubs.metric(server, "sglang:prompt_tokens_total" + labels + "}")).isZero();
    assertThat(stubs.metric(server, "sglang:generation_tokens_total" + labels + "}")).isZero();
    assertThat(
            stubs.metric(
                server,
                "sglang:cache_config_info" + labels + ",num_pages=\"2125\",page_size=\"16\"}"))
        .isEqualTo(1);
    assertThat(stubs.metric(server, "sglang:num_pages" + labels + "}")).isEqualTo(2125);
    var page = stubs.get(server, "/metrics");
    assertThat(page.headers().firstValue("content-type").orElseThrow()).contains("version=0.0.4");
    assertThat(page.body()).doesNotContain("vllm:");
  }

  private String page(ModelServer server) {
    try {
      return stubs.get(server, "/metrics").body();
    } catch (IOException | InterruptedException e) {
      return "none: " + e;
    }
  }

  private static int cached(String body) throws IOException {
    return json(body).at("/usage/prompt_tokens_details/cached_tokens").intValue();
  }
}
