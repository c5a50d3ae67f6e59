package io.fairlead.stub.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.stub.profile.EngineProfiles;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ModelServerIT {

  private static final MultiThreadIoEventLoopGroup GROUP =
      new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private static final String CHAT = "/v1/chat/completions";
  private static final String HELLO =
      "{\"model\":\"m\",\"max_tokens\":3,\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}";

  private final List<ModelServer> servers = new ArrayList<>();

  @AfterEach
  void stopServers() {
    servers.forEach(ModelServer::close);
  }

  @AfterAll
  static void stopLoops() {
    CLIENT.close();
    GROUP.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void aChatCompletionComesWhole() throws Exception {
    ModelServer server = start(instant().pod("pod-a"));
    HttpResponse<String> response = post(server, CHAT, HELLO);

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("x-stub-endpoint")).contains("one");
    assertThat(response.headers().firstValue("x-stub-pod")).contains("pod-a");
    assertThat(response.headers().firstValue("x-stub-model")).contains("m");
    assertThat(response.headers().firstValue("content-type")).contains("application/json");
    assertThat(response.headers().firstValue("x-stub-body-sha256")).isEmpty();
    JsonNode body = json(response.body());
    assertThat(body.path("object").textValue()).isEqualTo("chat.completion");
    assertThat(body.path("model").textValue()).isEqualTo("m");
    assertThat(body.at("/choices/0/message/role").textValue()).isEqualTo("assistant");
    assertThat(body.at("/choices/0/message/content").textValue()).isEqualTo("the sea ran ");
    assertThat(body.at("/choices/0/finish_reason").textValue()).isEqualTo("length");
    // "user\nHello\nassistant\n" is 21 bytes, four to a token.
    assertThat(body.path("usage").toString())
        .isEqualTo(
            "{\"prompt_tokens\":6,\"total_tokens\":9,\"completion_tokens\":3,\"prompt_tokens_details\":null}");
  }

  @Test
  void anAnswerSaysWhenItWasAskedFor() throws Exception {
    ModelServer server = start(instant());
    long started = System.currentTimeMillis() / 1_000;
    await().until(() -> System.currentTimeMillis() / 1_000 > started);

    assertThat(json(post(server, CHAT, HELLO).body()).path("created").longValue())
        .isBetween(started + 1, System.currentTimeMillis() / 1_000);
  }

  @Test
  void emptyStreamOptionsAreNone() throws Exception {
    String body = HELLO.replace("\"max_tokens\"", "\"stream_options\":{},\"max_tokens\"");
    assertThat(post(start(instant()), CHAT, body).statusCode()).isEqualTo(200);
  }

  @Test
  void aChatCompletionComesAsAStream() throws Exception {
    ModelServer server = start(instant());
    HttpResponse<String> response =
        post(
            server,
            CHAT,
            HELLO.replace(
                "\"max_tokens\"",
                "\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_completion_tokens\""));

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("content-type"))
        .contains("text/event-stream; charset=utf-8");
    assertThat(response.headers().firstValue("x-stub-endpoint")).contains("one");
    List<JsonNode> events = events(response.body());
    assertThat(events)
        .extracting(e -> e.path("object").textValue())
        .containsOnly("chat.completion.chunk");
    assertThat(events)
        .extracting(e -> e.at("/choices/0/delta").toString())
        .containsExactly(
            "{\"role\":\"assistant\",\"content\":\"\"}",
            "{\"content\":\"the \"}",
            "{\"content\":\"sea \"}",
            "{\"content\":\"ran \"}",
            "");
    assertThat(events)
        .extracting(e -> e.at("/choices/0/finish_reason").asText())
        .containsExactly("null", "null", "null", "length", "");
    assertThat(events.getLast().path("choices")).isEmpty();
    assertThat(events.getLast().at("/usage/completion_tokens").intValue()).isEqualTo(3);
    assertThat(events.getLast().at("/usage/prompt_tokens").intValue()).isEqualTo(6);
  }

  @Test
  void aTextCompletionComesBothWays() throws Exception {
    ModelServer server = start(instant());
    String request = "{\"model\":\"m\",\"prompt\":\"abcdefgh\",\"max_tokens\":2}";
    JsonNode whole = json(post(server, "/v1/completions", request).body());
    assertThat(whole.path("object").textValue()).isEqualTo("text_completion");
    assertThat(whole.at("/choices/0/text").textValue()).isEqualTo("the sea ");
    assertThat(whole.at("/usage/prompt_tokens").intValue()).isEqualTo(2);

    String streamed =
        post(server, "/v1/completions", request.replace("{", "{\"stream\":true,")).body();
    assertThat(events(streamed))
        .extracting(e -> e.at("/choices/0/text").textValue())
        .containsExactly("the ", "sea ");
  }

  @Test
  void theNextTurnFindsTheConversationInTheCache() throws Exception {
    ModelServer server = start(instant().promptTokensDetails(true));
    String first =
        "{\"model\":\"m\",\"max_tokens\":40,\"messages\":[{\"role\":\"user\",\"content\":\""
            + "x".repeat(1000)
            + "\"}";
    JsonNode one = json(post(server, CHAT, first + "]}").body());
    String answer = one.at("/choices/0/message/content").textValue();
    JsonNode two =
        json(
            post(
                    server,
                    CHAT,
                    first
                        + ",{\"role\":\"assistant\",\"content\":\""
                        + answer
                        + "\"},{\"role\":\"user\",\"content\":\"more\"}]}")
                .body());

    int before = one.at("/usage/prompt_tokens").intValue();
    assertThat(one.at("/usage/prompt_tokens_details/cached_tokens").intValue()).isZero();
    assertThat(two.at("/usage/prompt_tokens_details/cached_tokens").intValue())
        .isGreaterThan(before)
        .isLessThan(before + 40);
    assertThat(metric(server, "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"m\"}"))
        .isEqualTo(two.at("/usage/prompt_tokens_details/cached_tokens").doubleValue());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "404 | {\"model\":\"other\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]} | The"
            + " model `other` does not exist.",
        "400 | {\"model\":\"m\" | The body is not valid JSON at line 1",
        "400 | {\"model\":\"m\"} x | The body is not valid JSON at line 1",
        "400 | [] | The body is not a JSON object.",
        "400 | {\"messages\":[]} | model: a string is needed",
        "400 | {\"model\":\"m\",\"messages\":[]} | messages: a list of at least one message is"
            + " needed",
        "400 | {\"model\":\"m\",\"messages\":[{\"content\":\"x\"}]} | messages[0].role: a string is"
            + " needed",
        "400 | {\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":1}]} |"
            + " messages[0].content: a string or a list of parts is needed",
        "400 | {\"model\":\"m\",\"max_tokens\":0,\"messages\":[{\"role\":\"u\"}]} | max_tokens: an"
            + " integer >= 1 is needed",
        "400 | {\"model\":\"m\",\"stream\":\"yes\",\"messages\":[{\"role\":\"u\"}]} | stream: true"
            + " or false is needed",
        "400 | {\"model\":\"m\",\"stream_options\":{\"include_usage\":true},\"messages\":"
            + "[{\"role\":\"u\"}]} | Stream options can only be defined when `stream=True`.",
        "400 | {\"model\":\"m\",\"n\":0,\"messages\":[{\"role\":\"u\"}]} | n: an integer >= 1 is"
            + " needed",
        "400 | {\"model\":\"m\",\"n\":100000000,\"messages\":[{\"role\":\"u\"}]} | n: at most 16384"
            + " is allowed, got 100000000",
        "400 | {\"model\":\"m\",\"n\":16385,\"messages\":[{\"role\":\"u\"}]} | n: at most 16384 is"
            + " allowed, got 16385",
        "400 | {\"model\":\"m\",\"n\":2,\"temperature\":0,\"messages\":[{\"role\":\"u\"}]} | n:"
            + " must be 1 when using greedy sampling (temperature 0), got 2",
        "400 | {\"model\":\"m\",\"temperature\":9,\"messages\":[{\"role\":\"u\"}]} | temperature: a"
            + " number in 0..2 is needed",
        "400 |"
            + " {\"model\":\"m\",\"tools\":[{\"type\":\"function\"}],\"messages\":[{\"role\":\"u\"}]}"
            + " | tools: \"auto\" tool choice requires --enable-auto-tool-choice",
        "400 |"
            + " {\"model\":\"m\",\"messages\":[{\"role\":\"u\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,\"}}]}]}"
            + " | messages[0].content: a part is of type \"image_url\", but this is not a"
            + " multimodal model",
        "400 | {\"model\":\"m\",\"max_tokens\":420000,\"messages\":[{\"role\":\"u\"}]} | maximum"
            + " context length is 131072 tokens"
      })
  void aBadRequestIsToldWhatIsWrong(int status, String body, String message) throws Exception {
    ModelServer server = start(instant());
    try (RawClient client = new RawClient(server)) {
      client.send(RawClient.post(CHAT, body));
      String response = client.response();
      assertThat(response).startsWith("HTTP/1.1 " + status).contains("x-stub-endpoint: one");
      JsonNode error = json(response.substring(response.indexOf("{"))).path("error");
      assertThat(error.path("message").textValue()).contains(message);
      assertThat(error.path("code").intValue()).isEqualTo(status);
      assertThat(error.path("type").textValue()).endsWith("Error");

      client.send(RawClient.post(CHAT, HELLO));
      assertThat(client.response()).as("the connection still serves").startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void wrongPathMethodAndMediaTypeAreErrors() throws Exception {
    ModelServer server = start(instant());
    assertThat(get(server, "/v2").statusCode()).isEqualTo(404);
    assertThat(get(server, CHAT).statusCode()).isEqualTo(405);
    HttpResponse<String> form =
        CLIENT.send(
            HttpRequest.newBuilder(URI.create(server.url() + CHAT))
                .header("content-type", "text/plain")
                .POST(BodyPublishers.ofString(HELLO))
                .build(),
            BodyHandlers.ofString());
    assertThat(form.statusCode()).isEqualTo(400);
    assertThat(form.body()).contains("application/json");
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws Exception {
    ModelServer server = start(instant());
    try (RawClient client = new RawClient(server)) {
      StringBuilder sent = new StringBuilder();
      for (int tokens = 9; tokens >= 1; tokens--) {
        sent.append(RawClient.post(CHAT, HELLO.replace(":3,", ":" + tokens + ",")));
        sent.append("GET /health HTTP/1.1\r\nhost: t\r\n\r\n");
      }
      client.send(sent.toString());
      for (int tokens = 9; tokens >= 1; tokens--) {
        assertThat(client.response()).contains("\"completion_tokens\":" + tokens + ",");
        assertThat(client.response()).startsWith("HTTP/1.1 200").contains("content-length: 0");
      }
    }
    assertThat(server.stats().completed()).isEqualTo(9);
  }

  @Test
  void aBodyInChunksOfOver32MebibytesArrivesIntact() throws Exception {
    ModelServer server =
        start(
            instant()
                .bodyHash(true)
                .profile(EngineProfiles.shipped().named("h100-8b").withKvTokens(16 << 20))
                .maxModelLen(16 << 20));
    byte[] body = HELLO.replace("Hello", "long ".repeat(34 << 18)).getBytes(UTF_8);
    assertThat(body.length).isGreaterThan(34 << 20);
    // A publisher of unknown length makes the client send chunks.
    BodyPublisher chunks = BodyPublishers.fromPublisher(BodyPublishers.ofByteArray(body));
    HttpResponse<String> response =
        CLIENT.send(request(server, CHAT, chunks), BodyHandlers.ofString());

    assertThat(response.statusCode()).isEqualTo(200);
    String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
    assertThat(response.headers().firstValue("x-stub-body-sha256")).contains(hash);
    assertThat(json(response.body()).at("/usage/prompt_tokens").intValue()).isGreaterThan(34 << 18);
  }

  @Test
  void aBodyOverTheLimitIsRefused() throws Exception {
    ModelServer server = start(instant().maxBodyBytes(100));
    try (RawClient client = new RawClient(server)) {
      client.send(RawClient.post(CHAT, HELLO.replace("Hello", "x".repeat(100))));
      assertThat(client.response()).startsWith("HTTP/1.1 413");
    }
  }

  @Test
  void aClientThatGoesAwayCancelsItsRequest() throws Exception {
    ModelServer server = start(slow());
    RawClient client = new RawClient(server);
    client.send(RawClient.post(CHAT, HELLO.replace(":3,", ":10000,")));
    await().until(() -> server.stats().running() == 1);
    client.close();
    await().until(() -> server.stats().cancelled() == 1);
    await().until(() -> server.stats().running() == 0);

    assertThat(server.stats().inFlight()).isZero();
    assertThat(server.stats().kvUsage()).isZero();
  }

  @Test
  void anAnswerNeverComesBeforeTheEngineHasIt() throws Exception {
    ModelServer server = start(instant().timeScale(0.5));
    long begin = System.nanoTime();
    HttpResponse<String> response = post(server, CHAT, HELLO.replace(":3,", ":30,"));
    long millis = (System.nanoTime() - begin) / 1_000_000;

    assertThat(response.statusCode()).isEqualTo(200);
    // 30 steps of at least 6.4 ms, at half the time.
    assertThat(millis).isGreaterThanOrEqualTo(96);
  }

  @Test
  void manyRequestsAreAllAnsweredAndCounted() throws Exception {
    ModelServer server =
        start(instant().profile(EngineProfiles.shipped().named("h100-8b").withKvTokens(2_000)));
    List<CompletableFuture<HttpResponse<String>>> calls = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      String body =
          HELLO
              .replace("Hello", "request " + i + "x".repeat(i * 5))
              .replace(":3,", ":" + (i + 1) + ",");
      calls.add(
          CLIENT.sendAsync(
              request(server, CHAT, BodyPublishers.ofString(body)), BodyHandlers.ofString()));
    }
    for (int i = 0; i < calls.size(); i++) {
      JsonNode answer = json(calls.get(i).get(30, TimeUnit.SECONDS).body());
      assertThat(answer.at("/usage/completion_tokens").intValue()).isEqualTo(i + 1);
    }
    ServerStats stats = server.stats();
    assertThat(stats.requests()).isEqualTo(200);
    assertThat(stats.completed()).isEqualTo(200);
    assertThat(stats.inFlight()).isZero();
    assertThat(stats.outputTokens()).isEqualTo(200 * 201 / 2);
    assertThat(json(get(server, "/stub/stats").body()).path("completed").intValue()).isEqualTo(200);
  }

  @Test
  void metricsModelsAndHealthLookLikeVllm() throws Exception {
    ModelServer server = start(slow());
    assertThat(get(server, "/health").statusCode()).isEqualTo(200);
    assertThat(json(get(server, "/v1/models").body()).path("data"))
        .extracting(model -> model.path("id").textValue())
        .containsExactly("m", "m2");

    HttpResponse<String> page = get(server, "/metrics");
    assertThat(page.headers().firstValue("content-type"))
        .contains("text/plain; version=1.0.0; charset=utf-8");
    assertThat(page.body())
        .contains("# TYPE vllm:num_requests_waiting gauge\n")
        .contains("vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 0.0\n")
        .contains("block_size=\"16\"")
        .contains("num_gpu_blocks=\"2125\"");
    try (RawClient client = new RawClient(server)) {
      client.send(RawClient.post(CHAT, HELLO.replace(":3,", ":10000,")));
      await()
          .until(
              () ->
                  metric(server, "vllm:num_requests_running{engine=\"0\",model_name=\"m\"}") == 1);
      assertThat(metric(server, "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"}"))
          .isPositive();
    }
  }

  @Test
  void adaptersAreShownAsVllmShowsThem() throws Exception {
    String first =
        "vllm:lora_requests_info{max_lora=\"2\",running_lora_adapters=\"m2\",waiting_lora_adapters=\"m2\"}";
    String idle =
        "vllm:lora_requests_info{max_lora=\"2\",running_lora_adapters=\"\",waiting_lora_adapters=\"\"}";
    assertThat(get(start(slow()), "/metrics").body()).doesNotContain("lora");
    ModelServer server = start(slow().maxAdapters(2));
    try (RawClient client = new RawClient(server)) {
      client.send(RawClient.post(CHAT, HELLO.replace(":3,", ":10000,").replace("\"m\"", "\"m2\"")));
      await().until(() -> get(server, "/metrics").body().contains(first));
      assertThat(get(server, "/metrics").body()).doesNotContain(idle);
    }
    await().until(() -> get(server, "/metrics").body().contains(idle));
    assertThat(metric(server, idle)).isGreaterThan(metric(server, first));
    assertThat(json(get(server, "/v1/models").body()).at("/data/1/parent").textValue())
        .isEqualTo("m");
  }

  @Test
  void aResetComesBeforeTheFirstByteAndOnlyAsOftenAsAsked() throws Exception {
    ModelServer server = start(instant());
    server.faults().resetNext(1);
    assertThatThrownBy(() -> post(server, CHAT, HELLO)).isInstanceOf(IOException.class);
    assertThat(post(server, CHAT, HELLO).statusCode()).isEqualTo(200);
    assertThat(server.stats().failed()).isEqualTo(1);
    assertThat(server.stats().inFlight()).isZero();
  }

  @Test
  void errorsComeOnDemandOverHttp() throws Exception {
    ModelServer server = start(instant());
    assertThat(post(server, "/stub/faults", "{\"errorNext\":2,\"errorStatus\":503}").body())
        .isEqualTo("{\"errorNext\":2,\"errorStatus\":503}");
    assertThat(post(server, CHAT, HELLO).statusCode()).isEqualTo(503);
    assertThat(post(server, CHAT, HELLO).body()).contains("\"code\":503");
    assertThat(post(server, CHAT, HELLO).statusCode()).isEqualTo(200);

    HttpResponse<String> refused = post(server, "/stub/faults", "{\"stall\":true,\"explode\":1}");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("explode: no such fault");
    assertThat(server.faults().state().is(Fault.STALL)).as("nothing half applied").isFalse();
    assertThat(post(server, "/stub/faults", "{\"resetNext\":-1}").body())
        .contains("resetNext: -1 is not >= 0");
  }

  @Test
  void aStalledEngineTakesRequestsAndLooksHealthyUntilItGoesOn() throws Exception {
    ModelServer server = start(instant());
    server.faults().stall(true);
    CompletableFuture<HttpResponse<String>> call =
        CLIENT.sendAsync(
            request(server, CHAT, BodyPublishers.ofString(HELLO)), BodyHandlers.ofString());
    await().until(() -> server.stats().inFlight() == 1);

    assertThat(get(server, "/health").statusCode()).isEqualTo(200);
    assertThat(metric(server, "vllm:num_requests_running{engine=\"0\",model_name=\"m\"}")).isZero();
    assertThat(metric(server, "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"}")).isZero();
    assertThat(call).isNotDone();
    server.faults().clear();
    assertThat(call.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
  }

  @Test
  void frozenMetricsRepeatThemselves() throws Exception {
    ModelServer server = start(instant());
    server.faults().begin(Fault.FREEZE_METRICS, true);
    String frozen = get(server, "/metrics").body();
    post(server, CHAT, HELLO);
    assertThat(get(server, "/metrics").body()).isEqualTo(frozen);
    server.faults().end(Fault.FREEZE_METRICS);
    assertThat(get(server, "/metrics").body()).isNotEqualTo(frozen);
  }

  @Test
  void closingEndsStreamsAsAborted() throws Exception {
    ModelServer server = start(slow());
    try (RawClient client = new RawClient(server)) {
      client.send(
          RawClient.post(
              CHAT, HELLO.replace("\"max_tokens\":3", "\"stream\":true,\"max_tokens\":10000")));
      assertThat(client.line()).isEqualTo("HTTP/1.1 200 OK");
      server.close();
      List<String> data = new ArrayList<>();
      while (data.isEmpty() || !data.getLast().equals("data: [DONE]")) {
        String line = client.line();
        if (line.startsWith("data: ")) {
          data.add(line);
        }
      }
      assertThat(data.get(data.size() - 2)).contains("\"finish_reason\":\"abort\"");
    }
    assertThat(server.stats().cancelled()).isEqualTo(1);
    assertThatThrownBy(() -> get(server, "/health")).isInstanceOf(ConnectException.class);
  }

  @Test
  void anAddressInUseIsNamed() {
    ModelServer server = start(instant());
    int port = server.address().getPort();
    assertThatThrownBy(() -> start(instant().listen("127.0.0.1", port)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("model server one can't listen on 127.0.0.1:" + port + ": ")
        .hasMessageEndingWith("Address already in use");
  }

  private static ModelServerConfig.Builder instant() {
    return ModelServerConfig.builder("one", "m", "m2").instant();
  }

  /** A step takes 64 ms and more: slow enough to be caught in the middle of an answer. */
  private static ModelServerConfig.Builder slow() {
    return instant().timeScale(1).profile(EngineProfiles.shipped().named("l4-8b"));
  }

  private ModelServer start(ModelServerConfig.Builder config) {
    ModelServer server = ModelServer.start(config.build(), GROUP);
    servers.add(server);
    return server;
  }

  private static HttpRequest request(ModelServer server, String path, BodyPublisher body) {
    return HttpRequest.newBuilder(URI.create(server.url() + path))
        .timeout(Duration.ofSeconds(30))
        .header("content-type", "application/json")
        .POST(body)
        .build();
  }

  private static HttpResponse<String> post(ModelServer server, String path, String body)
      throws IOException, InterruptedException {
    return CLIENT.send(
        request(server, path, BodyPublishers.ofString(body)), BodyHandlers.ofString());
  }

  private static HttpResponse<String> get(ModelServer server, String path)
      throws IOException, InterruptedException {
    return CLIENT.send(
        HttpRequest.newBuilder(URI.create(server.url() + path)).build(), BodyHandlers.ofString());
  }

  private static double metric(ModelServer server, String series)
      throws IOException, InterruptedException {
    return get(server, "/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith(series + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
        .sum();
  }

  private static JsonNode json(String text) throws IOException {
    return RequestParser.JSON.readTree(text);
  }

  /** The events of a stream that ends as it must. */
  private static List<JsonNode> events(String stream) throws IOException {
    assertThat(stream).endsWith("\n\ndata: [DONE]\n\n");
    List<JsonNode> events = new ArrayList<>();
    for (String event : stream.split("\n\n", -1)) {
      if (event.startsWith("data: {")) {
        events.add(json(event.substring("data: ".length())));
      }
    }
    return events;
  }
}
