package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

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
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Real engines tell real pickers of their caches, over ZeroMQ, with and without a tokenizer. */
@ExtendWith(NoLeaks.class)
class ExactCachesIT {

  private static final String EVENTS =
      """
      - type: precise-prefix-cache-producer
        parameters:
          kvEventsConfig:
            podDiscoveryConfig: {socketPort: %d, replaySocketPort: %d}
      """;

  /** So many prompts that no engine is without one by chance. */
  private static final int MANY = 30;

  @TempDir Path folder;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<DataPlane> pickers = new ArrayList<>();
  private final ModelServer one = stub("one", "127.0.0.1", KvEvents.onFreePorts());
  private final ModelServer two =
      stub("two", "127.0.0.2", KvEvents.on(one.kvEventsPort(), one.kvReplayPort()));

  private ModelServer stub(String name, String host, KvEvents events) {
    return ModelServer.start(
        ModelServerConfig.builder(name, "m")
            .listen(host, 0)
            .instant()
            .promptTokensDetails(true)
            .kvEvents(events)
            .build(),
        stubLoops);
  }

  @BeforeEach
  void tokenizer() throws Exception {
    Files.createFile(folder.resolve("stub-tokenizer"));
  }

  @AfterEach
  void stop() {
    pickers.forEach(DataPlane::close);
    one.close();
    two.close();
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    http.close();
  }

  @Test
  void aPickerKnowsWhatOthersHaveSent() throws Exception {
    DataPlane first = picker(true);
    DataPlane second = picker(true);
    List<String> went = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      went.add(servedBy(ask(first, prompt(i))));
    }
    assertThat(went).contains("one", "two");
    awaitAllTold(second, MANY);

    for (int i = 0; i < MANY; i++) {
      assertThat(servedBy(ask(second, prompt(i)))).as("prompt %d", i).isEqualTo(went.get(i));
    }
    // Who asks may have an answer before it is counted.
    await().until(() -> compared(second) == MANY);
    double expected = expected(second);
    double actual = metric(second, "fairlead_prefix_actual_cached_tokens_total");
    assertThat(actual).isGreaterThan(MANY * 200);
    assertThat(expected).isCloseTo(actual, within((double) MANY));
    assertThat(metric(second, "fairlead_prompt_tokenizations_total{result=\"done\"}"))
        .isEqualTo(MANY);
  }

  @Test
  void aPickerThatComesLateKnowsWhatWasBefore() throws Exception {
    DataPlane first = picker(true);
    List<String> went = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      went.add(servedBy(ask(first, prompt(i))));
    }

    DataPlane late = picker(true);
    awaitAllTold(late, 8);

    for (int i = 0; i < 8; i++) {
      assertThat(servedBy(ask(late, prompt(i)))).as("prompt %d", i).isEqualTo(went.get(i));
    }
  }

  @Test
  void withoutATokenizerAClearedCacheIsForgotten() throws Exception {
    DataPlane picker = picker(false);
    String at = servedBy(ask(picker, prompt(1)));
    assertThat(servedBy(ask(picker, prompt(1)))).isEqualTo(at);
    double matched = matched(picker);
    assertThat(matched).isPositive();

    awaitAllTold(picker, 1);
    double before = applied(picker);
    (at.equals("one") ? one : two).faults().resetCache();
    await().until(() -> applied(picker) > before);
    ask(picker, prompt(1));

    assertThat(matched(picker)).isEqualTo(matched);
  }

  @Test
  void anEngineThatPublishesNothingIsGuessedAsEver() throws Exception {
    DataPlane picker = pickerOn(1, 2); // nobody is there
    String at = servedBy(ask(picker, prompt(1)));

    assertThat(servedBy(ask(picker, prompt(1)))).isEqualTo(at);
    assertThat(matched(picker)).isPositive();
    // They are connected to on a thread of their own, which may come later than the picks.
    await().until(() -> metric(picker, "fairlead_kv_events_endpoints{known=\"silent\"}") == 2);
  }

  /** What another picker has sent is known by events alone: whoever hears none guesses anew. */
  @Test
  void eventsThatAreSwitchedOffAreForgottenAndKnownWholeWhenTheyAreOnAgain() throws Exception {
    DataPlane first = picker(true);
    for (int i = 0; i < 12; i++) {
      ask(first, prompt(i));
    }
    DataPlane edited = picker(true);
    awaitAllTold(edited, 12);
    assertThat(expectedOf(edited, prompt(0))).isGreaterThan(200);

    configure(1, "", true);
    await().until(() -> edited.report().generation() == 2);
    await().until(() -> endpoints(edited, "whole", "partial", "silent") == 0);
    assertThat(expectedOf(edited, prompt(1))).as("of what others have sent").isZero();

    configure(1, events(), true);
    await().atMost(Duration.ofSeconds(30)).until(() -> endpoints(edited, "whole") == 2);
    assertThat(expectedOf(edited, prompt(2))).isGreaterThan(200);
  }

  /** Tokens of a prompt that are believed to be cached where it is sent now. */
  private double expectedOf(DataPlane picker, String prompt) throws Exception {
    double before = expected(picker);
    double compared = compared(picker);
    ask(picker, prompt);
    await().until(() -> compared(picker) > compared);
    return expected(picker) - before;
  }

  /** Answers that have said how much was cached. */
  private double compared(DataPlane picker) throws Exception {
    return metric(picker, "fairlead_prefix_share_error_count");
  }

  private double expected(DataPlane picker) throws Exception {
    return metric(picker, "fairlead_prefix_expected_cached_tokens_total");
  }

  private double endpoints(DataPlane picker, String... known) throws Exception {
    double sum = 0;
    for (String how : known) {
      sum += metric(picker, "fairlead_kv_events_endpoints{known=\"" + how + "\"}");
    }
    return sum;
  }

  private String events() {
    return EVENTS.formatted(one.kvEventsPort(), one.kvReplayPort());
  }

  private DataPlane picker(boolean tokenizer) throws Exception {
    DataPlane picker = start(events(), tokenizer);
    await().atMost(Duration.ofSeconds(30)).until(() -> endpoints(picker, "whole") == 2);
    if (tokenizer) {
      await().until(() -> metric(picker, "fairlead_prompt_tokenizers_open") == 1);
    }
    return picker;
  }

  private DataPlane pickerOn(int port, int replayPort) throws Exception {
    return start(EVENTS.formatted(port, replayPort), false);
  }

  private DataPlane start(String events, boolean tokenizer) throws Exception {
    Path endpoints =
        Files.writeString(
            folder.resolve("endpoints.yaml"),
            "endpoints:\n- {name: one, address: 127.0.0.1, port: %d}\n- {name: two, address: 127.0.0.2, port: %d}\n"
                .formatted(one.address().getPort(), two.address().getPort()));
    Path config = configure(pickers.size(), events, tokenizer);
    DataPlane picker =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, config))
                .gateway("127.0.0.1", 0)
                .admin("127.0.0.1", 0)
                .loops(1)
                .build());
    pickers.add(picker);
    picker.ready().get(30, TimeUnit.SECONDS);
    return picker;
  }

  /** Writes the config of the picker of this number, counted from 0. */
  private Path configure(int picker, String events, boolean tokenizer) throws Exception {
    String plugins =
        tokenizer
            ? events
                + "- type: token-producer\n  parameters: {modelName: m, path: %s, timeout: 5s}\n"
                    .formatted(folder)
            : events;
    return Files.writeString(
        folder.resolve("config-" + picker + ".yaml"),
        """
        apiVersion: llm-d.ai/v1alpha1
        kind: EndpointPickerConfig
        plugins:
        %s
        - type: prefix-cache-scorer
        schedulingProfiles:
        - name: default
          plugins: [{pluginRef: prefix-cache-scorer}]
        """
            .formatted(plugins));
  }

  private static String prompt(int number) {
    return "prompt %02d of several. ".formatted(number).repeat(50);
  }

  /** At least one message for each prompt, and no more to come. */
  private void awaitAllTold(DataPlane picker, int prompts) {
    double[] last = {-1};
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(300))
        .until(
            () -> {
              double now = applied(picker) + metric(picker, events("replayed"));
              boolean same = now == last[0] && now >= prompts;
              last[0] = now;
              return same;
            });
  }

  private double applied(DataPlane picker) throws Exception {
    return metric(picker, events("applied"));
  }

  private static String events(String result) {
    return "fairlead_kv_events_total{result=\"" + result + "\"}";
  }

  private double matched(DataPlane picker) throws Exception {
    return metric(picker, "fairlead_endpoint_matched_blocks_total");
  }

  private HttpResponse<String> ask(DataPlane picker, String prompt) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(
                    URI.create(
                        "http://127.0.0.1:" + picker.gatewayPort().getAsInt() + "/v1/completions"))
                .header("content-type", "application/json")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"model\": \"m\", \"prompt\": \"%s\", \"max_tokens\": 4}"
                            .formatted(prompt)))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer;
  }

  private static String servedBy(HttpResponse<?> answer) {
    return answer.headers().firstValue("x-stub-endpoint").orElseThrow();
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
