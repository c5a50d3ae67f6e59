package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.stub.server.KvEvents;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real tokenizer and a real chat template against what a real engine tells: a picker that has
 * sent nothing of a conversation knows how much of it is cached, to the token.
 */
class TokenizedChatIT {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TEMPLATE =
      "{% for m in messages %}{{ m.role }}\n{{ m.content }}\n{% endfor %}{{ 'assistant\n' }}";

  /** What the stub answers, in so many words. */
  private static final String STUBS_WORDS =
      "the sea ran out and the tow led all oar men may row now for bow and lee but fog hid the bay ";

  @TempDir Path folder;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final ModelServer stub =
      ModelServer.start(
          ModelServerConfig.builder("stub", "m")
              .instant()
              .promptTokensDetails(true)
              .kvEvents(KvEvents.onFreePorts())
              .build(),
          loops);
  private final List<DataPlane> pickers = new ArrayList<>();

  @AfterEach
  void stop() {
    pickers.forEach(DataPlane::close);
    stub.close();
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    http.close();
  }

  @Test
  void aConversationThatOthersBeganIsKnownToTheToken() throws Exception {
    List<Map<String, String>> conversation = new ArrayList<>();
    conversation.add(Map.of("role", "system", "content", "You know the sea. ".repeat(40)));
    conversation.add(Map.of("role", "user", "content", "Where does the rope run?"));
    String next = "And then, where does it run? ".repeat(5);
    model(conversation, next);
    DataPlane first = picker();
    DataPlane second = picker();

    String answer = ask(first, conversation);
    // That of the prompt, and those of the answer, of which the last one may come later.
    double[] last = {-1, 0};
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(500))
        .until(
            () -> {
              double now = metric(second, "fairlead_kv_events_total{result=\"applied\"}");
              last[1] = now > 1 && now == last[0] ? last[1] + 1 : 0;
              last[0] = now;
              return last[1] == 4;
            });
    conversation.add(Map.of("role", "assistant", "content", answer));
    conversation.add(Map.of("role", "user", "content", next));
    ask(second, conversation);

    // It is counted when the answer is over, which its client may see a moment before.
    double cached =
        await()
            .until(
                () -> metric(second, "fairlead_prefix_actual_cached_tokens_total"),
                counted -> counted > 150);
    assertThat(metric(second, "fairlead_prefix_expected_cached_tokens_total")).isEqualTo(cached);
    assertThat(metric(second, "fairlead_prompt_tokenizations_total{result=\"done\"}")).isEqualTo(1);
  }

  /** A tokenizer that cuts as the stub does, for what is said here: four letters are a token. */
  private void model(List<Map<String, String>> conversation, String next) throws Exception {
    StringBuilder all = new StringBuilder();
    conversation.forEach(
        m -> all.append(m.get("role")).append('\n').append(m.get("content")).append('\n'));
    all.append("assistant\n").append(STUBS_WORDS).append("\nuser\n").append(next);
    all.append("\nassistant\n");
    ObjectNode vocabulary = JSON.createObjectNode().put("[UNK]", 0);
    for (int from = 0; from < all.length(); from++) {
      for (int to = from + 1; to <= Math.min(all.length(), from + 4); to++) {
        add(vocabulary, all.substring(from, to));
      }
    }
    ObjectNode tokenizer = JSON.createObjectNode();
    tokenizer.put("version", "1.0").putArray("added_tokens");
    tokenizer
        .putObject("pre_tokenizer")
        .put("type", "Split")
        .put("behavior", "Isolated")
        .put("invert", false)
        .putObject("pattern")
        .put("Regex", "[\\s\\S]{1,4}");
    tokenizer
        .putObject("model")
        .put("type", "WordLevel")
        .put("unk_token", "[UNK]")
        .set("vocab", vocabulary);
    JSON.writeValue(folder.resolve("tokenizer.json").toFile(), tokenizer);
    Files.writeString(folder.resolve("chat_template.jinja"), TEMPLATE);
  }

  private static void add(ObjectNode vocabulary, String token) {
    int id = 0;
    for (int i = 0; i < token.length(); i++) {
      id |= token.charAt(i) << (8 * i);
    }
    vocabulary.put(token, id);
  }

  private DataPlane picker() throws Exception {
    Path endpoints =
        Files.writeString(
            folder.resolve("endpoints.yaml"),
            "endpoints:\n- {name: stub, address: 127.0.0.1, port: %d}\n"
                .formatted(stub.address().getPort()));
    Path config =
        Files.writeString(
            folder.resolve("config.yaml"),
            """
            apiVersion: llm-d.ai/v1alpha1
            kind: EndpointPickerConfig
            plugins:
            - type: precise-prefix-cache-producer
              parameters:
                kvEventsConfig:
                  podDiscoveryConfig: {socketPort: %d, replaySocketPort: %d}
            - type: token-producer
              parameters: {modelName: m, path: %s, timeout: 5s}
            - type: work-cost
            """
                .formatted(stub.kvEventsPort(), stub.kvReplayPort(), folder));
    DataPlane picker =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, config))
                .gateway("127.0.0.1", 0)
                .admin("127.0.0.1", 0)
                .loops(1)
                .build());
    pickers.add(picker);
    picker.ready().get(30, TimeUnit.SECONDS);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> metric(picker, "fairlead_kv_events_endpoints{known=\"whole\"}") == 1);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> metric(picker, "fairlead_prompt_tokenizers_open") == 1);
    return picker;
  }

  private String ask(DataPlane picker, List<Map<String, String>> conversation) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(
                    URI.create(
                        "http://127.0.0.1:"
                            + picker.gatewayPort().getAsInt()
                            + "/v1/chat/completions"))
                .header("content-type", "application/json")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        JSON.writeValueAsString(
                            Map.of("model", "m", "messages", conversation, "max_tokens", 23))))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body()).at("/choices/0/message/content").textValue();
  }

  /** Sum of the series of this name, or with these labels. */
  private double metric(DataPlane picker, String series) throws Exception {
    String page =
        http.send(
                HttpRequest.newBuilder(
                        URI.create(
                            "http://127.0.0.1:" + picker.adminPort().getAsInt() + "/metrics"))
                    .build(),
                HttpResponse.BodyHandlers.ofString())
            .body();
    String name = Pattern.quote(series) + (series.contains("{") ? "" : "(?:\\{[^}]*})?");
    Matcher lines = Pattern.compile("(?m)^" + name + " (\\S+)$").matcher(page);
    double sum = 0;
    while (lines.find()) {
      sum += Double.parseDouble(lines.group(1));
    }
    return sum;
  }
}
