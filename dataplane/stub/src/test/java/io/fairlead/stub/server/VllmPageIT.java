package io.fairlead.stub.server;

import static io.fairlead.stub.server.Stubs.CHAT;
import static io.fairlead.stub.server.Stubs.chat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.stub.profile.EngineProfiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** The metrics page, held against what a real vLLM 0.32 with LoRA shows. */
final class VllmPageIT {

  private static final String LABELS = "{engine=\"0\",model_name=\"m\"}";
  private static final Pattern SAMPLE = Pattern.compile("(vllm:\\w+)(?:\\{(.*)})? \\S+");
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"(?:[^\"\\\\]|\\\\.)*\"");

  private static final Stubs STUBS = new Stubs(1);

  @AfterAll
  static void close() {
    STUBS.close();
  }

  @Test
  void everyFamilyHasTheTypeAndTheLabelsOfVllm() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant().maxAdapters(2));
    STUBS.post(server, CHAT, chat("m2", 3));

    String page = STUBS.get(server, "/metrics").body();
    assertThat(families(page)).isEqualTo(recorded());
  }

  @Test
  void anIdleServerWithLoraShowsThatNoAdapterRuns() throws Exception {
    String idle =
        "vllm:lora_requests_info{max_lora=\"2\",running_lora_adapters=\"\",waiting_lora_adapters=\"\"}";
    ModelServer server = STUBS.start(Stubs.instant().maxAdapters(2));
    STUBS.post(server, CHAT, chat("m", 3));
    await().until(() -> STUBS.metric(server, idle) > 0);
  }

  @Test
  void histogramsCountWhatWasServed() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant().timeScale(0.1));
    for (int tokens = 1; tokens <= 3; tokens++) {
      STUBS.post(server, CHAT, chat("m", tokens));
    }

    assertThat(of(server, "request_generation_tokens_sum")).isEqualTo(6);
    assertThat(of(server, "request_prompt_tokens_count")).isEqualTo(3);
    assertThat(of(server, "request_prompt_tokens_sum")).isEqualTo(18);
    assertThat(of(server, "time_to_first_token_seconds_count")).isEqualTo(3);
    assertThat(of(server, "inter_token_latency_seconds_count")).isEqualTo(3);
    assertThat(of(server, "iteration_tokens_total_count")).isEqualTo(6);
    // vLLM's counts the first token of each prefill too.
    assertThat(of(server, "iteration_tokens_total_sum")).isEqualTo(18 + 6);
    // Six steps of at least 6.4 ms, at a tenth of the time.
    assertThat(of(server, "e2e_request_latency_seconds_sum")).isBetween(0.0018, 30.0);
    assertThat(of(server, "request_decode_time_seconds_sum"))
        .isEqualTo(of(server, "inter_token_latency_seconds_sum"));
    assertThat(
            STUBS.metric(
                server,
                "vllm:request_generation_tokens_bucket{engine=\"0\",le=\"2.0\",model_name=\"m\"}"))
        .isEqualTo(2);
  }

  @Test
  void stepsCountWhatWasComputedOfPromptsAndPutOut() throws Exception {
    // So few blocks that some are set back and computed again, and prompts of several steps.
    ModelServer server =
        STUBS.start(
            Stubs.instant()
                .profile(EngineProfiles.shipped().named("h100-8b").withKvTokens(16_000))
                .maxModelLen(16_000));
    String body =
        "{\"model\":\"m\",\"max_tokens\":3000,\"n\":5,\"prompt\":\"%s\"}"
            .formatted("long ".repeat(8_000));
    assertThat(STUBS.post(server, "/v1/completions", body).statusCode()).isEqualTo(200);

    assertThat(of(server, "num_preemptions_total")).isPositive();
    double computed =
        STUBS.metric(
            server,
            "vllm:prompt_tokens_by_source_total{engine=\"0\",model_name=\"m\",source=\"local_compute\"}");
    assertThat(computed).isPositive();
    assertThat(of(server, "iteration_tokens_total_sum"))
        .isEqualTo(computed + of(server, "generation_tokens_total"));
  }

  @Test
  void choicesAreCountedEachAndWhatWasAskedForOnce() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    STUBS.post(
        server,
        "/v1/completions",
        "{\"model\":\"m\",\"max_tokens\":4,\"n\":3,\"prompt\":[\"abc\",\"def\"]}");

    assertThat(ended(server, "length")).isEqualTo(6);
    assertThat(of(server, "request_generation_tokens_count")).isEqualTo(6);
    assertThat(of(server, "request_params_n_count")).isEqualTo(2);
    assertThat(of(server, "request_params_n_sum")).isEqualTo(6);
    assertThat(of(server, "request_max_num_generation_tokens_count")).isEqualTo(2);
    assertThat(of(server, "request_max_num_generation_tokens_sum")).isEqualTo(8);
    assertThat(ended(server, "abort")).isZero();
  }

  @Test
  void everyChoiceOfAClientThatLeftIsAborted() throws Exception {
    ModelServer server = STUBS.start(Stubs.slow());
    var call =
        STUBS.send(
            server,
            "/v1/completions",
            "{\"model\":\"m\",\"max_tokens\":9000,\"n\":3,\"prompt\":\"abc\"}");
    await().until(() -> server.stats().running() == 3);
    call.cancel(true);
    await().until(() -> ended(server, "abort") == 3);
    assertThat(of(server, "request_params_n_count")).isZero();
  }

  @Test
  void whoWaitsForASlotIsDeferred() throws Exception {
    ModelServer server = STUBS.start(Stubs.slow().maxAdapters(1));
    var running = STUBS.send(server, CHAT, chat("m2", 10_000));
    await().until(() -> server.stats().running() == 1);
    var waiting = STUBS.send(server, CHAT, chat("m3", 1));
    String byReason =
        "vllm:num_requests_waiting_by_reason{engine=\"0\",model_name=\"m\",reason=\"%s\"}";

    await().until(() -> STUBS.metric(server, byReason.formatted("deferred")) == 1);
    assertThat(STUBS.metric(server, byReason.formatted("capacity"))).isZero();
    running.cancel(true);
    assertThat(waiting.get().statusCode()).isEqualTo(200);
  }

  @Test
  void theSizeOfTheCacheIsInItsConfiguration() throws Exception {
    ModelServer server =
        STUBS.start(
            Stubs.instant()
                .profile(EngineProfiles.shipped().named("h100-8b").withKvTokens(32_000))
                .maxModelLen(8_000));
    assertThat(STUBS.get(server, "/metrics").body())
        .contains(
            "kv_cache_size_tokens=\"32000\"",
            "num_gpu_blocks=\"2000\"",
            "kv_cache_max_concurrency=\"4.0\"");
  }

  private static double ended(ModelServer server, String reason) throws Exception {
    return STUBS.metric(
        server,
        "vllm:request_success_total{engine=\"0\",finished_reason=\"%s\",model_name=\"m\"}"
            .formatted(reason));
  }

  private static double of(ModelServer server, String name) throws Exception {
    return STUBS.metric(server, "vllm:" + name + LABELS);
  }

  /** What {@link #families} finds on the page of a vLLM 0.32 on which adapters ran. */
  private static Map<String, String> recorded() throws IOException {
    try (InputStream in = VllmPageIT.class.getResourceAsStream("vllm-0.32-families.txt")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .map(line -> line.split(" ", 2))
          .collect(Collectors.toMap(parts -> parts[0], parts -> parts[1]));
    }
  }

  /** The type of each family, and the names of the labels that its samples have. */
  private static Map<String, String> families(String page) {
    Map<String, String> types = new TreeMap<>();
    Map<String, Set<String>> labels = new TreeMap<>();
    for (String line : page.split("\n", -1)) {
      if (line.startsWith("# TYPE vllm:")) {
        String[] words = line.split(" ", -1);
        types.put(words[2], words[3]);
      }
      Matcher sample = SAMPLE.matcher(line);
      if (sample.matches()) {
        String name = sample.group(1).replaceAll("_(bucket|count|sum)$", "");
        String names = sample.group(2) == null ? "" : sample.group(2);
        labels
            .computeIfAbsent(name, each -> new TreeSet<>())
            .addAll(
                LABEL
                    .matcher(names)
                    .results()
                    .map(result -> result.group(1))
                    .collect(Collectors.toSet()));
      }
    }
    types.replaceAll((name, type) -> type + " " + labels.getOrDefault(name, Set.of()));
    return types;
  }
}
