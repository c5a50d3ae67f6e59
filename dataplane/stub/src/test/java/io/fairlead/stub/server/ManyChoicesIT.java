package io.fairlead.stub.server;

import static io.fairlead.stub.server.Stubs.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests for several answers, prompts as token ids, and the responses API. */
final class ManyChoicesIT {

  private static final String COMPLETIONS = "/v1/completions";
  private static final String RESPONSES = "/v1/responses";
  private static final Stubs STUBS = new Stubs(1);

  @AfterAll
  static void close() {
    STUBS.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[1,2,3,4,5] | 1 | 1 | 5",
        "[[1,2,3],[4,5]] | 1 | 2 | 5",
        "[\"abcdefgh\",\"abcd\"] | 1 | 2 | 3",
        "[\"abcdefgh\",\"abcd\"] | 2 | 4 | 3",
        "\"abcdefgh\" | 3 | 3 | 2"
      })
  void everyPromptHasItsChoicesAndIsCountedOnce(String prompt, int n, int choices, int tokens)
      throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    String body = "{\"model\":\"m\",\"max_tokens\":2,\"n\":%d,\"prompt\":%s}".formatted(n, prompt);
    JsonNode whole = json(STUBS.post(server, COMPLETIONS, body).body());
    assertThat(whole.path("choices")).hasSize(choices);
    for (int i = 0; i < choices; i++) {
      JsonNode choice = whole.path("choices").get(i);
      assertThat(choice.path("index").intValue()).isEqualTo(i);
      assertThat(choice.path("text").textValue()).isEqualTo("the sea ");
      assertThat(choice.path("finish_reason").textValue()).isEqualTo("length");
    }
    assertThat(whole.at("/usage/prompt_tokens").intValue()).isEqualTo(tokens);
    assertThat(whole.at("/usage/completion_tokens").intValue()).isEqualTo(2 * choices);
    assertThat(server.stats().outputTokens()).isEqualTo(2L * choices);
    assertThat(server.stats().completed()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"[]", "[[]]", "[1,-1]", "[1,\"a\"]", "{}", "7", "[[1],[\"a\"]]"})
  void whatIsNoPromptIsRefused(String prompt) throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    var answer =
        STUBS.post(server, COMPLETIONS, "{\"model\":\"m\",\"prompt\":%s}".formatted(prompt));
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).contains("prompt: a string, a list of token ids");
  }

  @ParameterizedTest
  @CsvSource({"1, 0, 200", "2, 0, 400", "2, 0.001, 200", "2, 1, 200"})
  void aGreedyRequestHasOneChoice(int n, double temperature, int status) throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    String body =
        "{\"model\":\"m\",\"max_tokens\":1,\"n\":%d,\"temperature\":%s,\"prompt\":\"abc\"}"
            .formatted(n, temperature);
    assertThat(STUBS.post(server, COMPLETIONS, body).statusCode()).isEqualTo(status);
  }

  @ParameterizedTest
  @CsvSource({"16384, 200", "16385, 400"})
  void choicesOfAllPromptsTogetherAreBounded(int choices, int status) throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    // 16,384 = 4,096 prompts of 4 choices, 16,385 = 3,277 of 5.
    int n = choices % 4 == 0 ? 4 : 5;
    String prompts = "[" + "[1],".repeat(choices / n - 1) + "[1]]";
    var answer =
        STUBS.post(
            server,
            COMPLETIONS,
            "{\"model\":\"m\",\"max_tokens\":1,\"n\":%d,\"prompt\":%s}".formatted(n, prompts));
    assertThat(answer.statusCode()).isEqualTo(status);
    if (status == 400) {
      assertThat(json(answer.body()).at("/error/param").textValue()).isEqualTo("n");
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "3, 1", "1, 2", "3, 2"})
  void cachedTokensAreCountedOncePerPrompt(int n, int prompts) throws Exception {
    ModelServer server = STUBS.start(Stubs.instant().promptTokensDetails(true));
    String prompt =
        "[\"%s\"%s]".formatted("a".repeat(400), prompts == 1 ? "" : ",\"" + "b".repeat(400) + "\"");
    String body = "{\"model\":\"m\",\"max_tokens\":2,\"n\":%d,\"prompt\":%s}".formatted(n, prompt);
    JsonNode cold = json(STUBS.post(server, COMPLETIONS, body).body()).path("usage");
    JsonNode warm = json(STUBS.post(server, COMPLETIONS, body).body()).path("usage");
    assertThat(cold.path("prompt_tokens").intValue()).isEqualTo(100 * prompts);
    assertThat(cold.at("/prompt_tokens_details/cached_tokens").intValue()).isZero();
    // Six full blocks of 16 tokens.
    assertThat(warm.at("/prompt_tokens_details/cached_tokens").intValue()).isEqualTo(96 * prompts);
  }

  @ParameterizedTest
  @CsvSource({"max_tokens", "max_completion_tokens"})
  void theLimitThatWasSentIsNamed(String field) throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    String body = Stubs.chat("m", 420_000).replace("max_tokens", field);
    var answer = STUBS.post(server, Stubs.CHAT, body);
    assertThat(json(answer.body()).at("/error/param").textValue()).isEqualTo(field);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "previous_response_id | \"input\":\"x\",\"previous_response_id\":\"resp_1\" | no response is stored here",
        "background | \"input\":\"x\",\"background\":true | no response is stored here",
        "tools | \"input\":\"x\",\"tools\":[{\"type\":\"function\"}] | leave them out",
        "instructions | \"input\":\"x\",\"instructions\":[\"y\"] | a string is needed",
        "input | \"instructions\":\"y\" | a string or a list of at least one message is needed",
        "max_output_tokens | \"input\":\"x\",\"max_output_tokens\":420000 | maximum context length"
      })
  void whatAResponseCannotHonourIsNamed(String field, String fields, String message)
      throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    var answer = STUBS.post(server, RESPONSES, "{\"model\":\"m\"," + fields + "}");
    assertThat(answer.statusCode()).isEqualTo(400);
    JsonNode error = json(answer.body()).path("error");
    assertThat(error.path("param").textValue()).isEqualTo(field);
    assertThat(error.path("message").textValue()).contains(message);
  }

  @Test
  void absentValuesOfAResponseAreTaken() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    String body =
        """
        {"model": "m", "input": "x", "previous_response_id": null, "background": false, "tools": [],
         "instructions": null}
        """;
    assertThat(STUBS.post(server, RESPONSES, body).statusCode()).isEqualTo(200);
  }

  @Test
  void anImageCountsAsMuchWhateverItsBytes() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant().multimodal(true).promptTokensDetails(true));
    JsonNode one = image(server, "A".repeat(1 << 20));
    JsonNode again = image(server, "A".repeat(1 << 20));
    JsonNode other = image(server, "B".repeat(1 << 20));
    // "user\n", the image, "Hello\nassistant\n": 21 bytes of text, four to a token.
    assertThat(one.path("prompt_tokens").intValue()).isEqualTo(1_024 + 6);
    assertThat(again.at("/prompt_tokens_details/cached_tokens").intValue()).isEqualTo(1_024);
    assertThat(other.path("prompt_tokens").intValue()).isEqualTo(1_024 + 6);
    assertThat(other.at("/prompt_tokens_details/cached_tokens").intValue()).isZero();
  }

  private static JsonNode image(ModelServer server, String base64) throws Exception {
    String body =
        """
        {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [
         {"type": "image_url", "image_url": {"url": "data:image/png;base64,%s"}},
         {"type": "text", "text": "Hello"}]}]}
        """
            .formatted(base64);
    var answer = STUBS.post(server, Stubs.CHAT, body);
    assertThat(answer.statusCode()).isEqualTo(200);
    return json(answer.body()).path("usage");
  }

  @Test
  void aResponseOfAServerThatStopsIsCancelled() throws Exception {
    ModelServer server = STUBS.start(Stubs.slow());
    var call =
        STUBS.send(
            server, RESPONSES, "{\"model\":\"m\",\"input\":\"Hello\",\"max_output_tokens\":9000}");
    await().until(() -> server.stats().running() == 1);
    server.close();
    JsonNode body = json(call.get().body());
    assertThat(body.path("status").textValue()).isEqualTo("cancelled");
    assertThat(body.path("incomplete_details").isNull()).isTrue();
  }

  @Test
  void choicesOfAStreamAreToldApart() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    String body =
        Stubs.chat("m", 2)
            .replace(
                "{\"model\"",
                "{\"n\":2,\"stream\":true,\"stream_options\":{\"include_usage\":true},\"model\"");
    List<JsonNode> events = new ArrayList<>();
    for (String line : STUBS.post(server, Stubs.CHAT, body).body().split("\n", -1)) {
      if (line.startsWith("data: {")) {
        events.add(json(line.substring("data: ".length())));
      }
    }
    for (int i = 0; i < 2; i++) {
      int index = i;
      assertThat(events)
          .filteredOn(event -> event.at("/choices/0/index").asInt(-1) == index)
          .extracting(event -> event.at("/choices/0/delta/content").textValue())
          .containsExactly("", "the ", "sea ");
    }
    JsonNode usage = events.getLast().path("usage");
    assertThat(usage.path("completion_tokens").intValue()).isEqualTo(4);
    assertThat(usage.has("prompt_tokens_details")).as("told with an option only").isFalse();
  }

  @Test
  void allChoicesOfAClientThatLeftAreCancelled() throws Exception {
    ModelServer server = STUBS.start(Stubs.slow());
    var call =
        STUBS.send(
            server,
            COMPLETIONS,
            "{\"model\":\"m\",\"max_tokens\":9000,\"n\":2,\"prompt\":\"abc\"}");
    await().until(() -> server.stats().running() == 2);
    call.cancel(true);
    await().until(() -> server.stats().running() == 0);
    assertThat(server.stats().cancelled()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"131072, 1, 400", "131071, 2, 400", "131071, 1, 200"})
  void promptAndAnswerShareTheContext(int prompt, int output, int status) throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    String body =
        "{\"model\":\"m\",\"max_tokens\":%d,\"prompt\":\"%s\"}"
            .formatted(output, "abcd".repeat(prompt));
    assertThat(STUBS.post(server, COMPLETIONS, body).statusCode()).isEqualTo(status);
  }

  @Test
  void whatIsSwitchedOnIsServed() throws Exception {
    ModelServer server =
        STUBS.start(
            Stubs.instant().multimodal(true).autoToolChoice(true).promptTokensDetails(true));
    String body =
        """
        {"model": "m", "max_tokens": 1, "temperature": 2, "tools": [{"type": "function"}],
         "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]}
        """;
    var answer = STUBS.post(server, Stubs.CHAT, body);
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(json(answer.body()).at("/usage/prompt_tokens_details/cached_tokens").isInt())
        .isTrue();
  }

  @Test
  void aResponseComesWhole() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    var answer =
        STUBS.post(
            server, RESPONSES, "{\"model\":\"m\",\"input\":\"Hello\",\"max_output_tokens\":3}");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("x-stub-model")).contains("m");
    JsonNode body = json(answer.body());
    assertThat(body.path("object").textValue()).isEqualTo("response");
    assertThat(body.at("/output/0/content/0/text").textValue()).isEqualTo("the sea ran ");
    assertThat(body.path("status").textValue()).isEqualTo("incomplete");
    assertThat(body.at("/incomplete_details/reason").textValue()).isEqualTo("max_output_tokens");
    assertThat(body.path("usage").toString())
        .isEqualTo(
            "{\"input_tokens\":6,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":3,\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":9}");
  }

  @Test
  void aResponseComesAsNumberedEvents() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    String body =
        "{\"model\":\"m\",\"stream\":true,\"max_output_tokens\":2,\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"Hello\"}]}]}";
    var answer = STUBS.post(server, RESPONSES, body);
    assertThat(answer.headers().firstValue("content-type"))
        .contains("text/event-stream; charset=utf-8");
    List<JsonNode> events = new ArrayList<>();
    for (String event : answer.body().split("\n\n", -1)) {
      if (!event.isEmpty()) {
        String[] lines = event.split("\n", -1);
        events.add(json(lines[1].substring("data: ".length())));
        assertThat(lines[0]).isEqualTo("event: " + events.getLast().path("type").textValue());
      }
    }
    assertThat(events)
        .extracting(event -> event.path("type").textValue())
        .containsExactly(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed");
    assertThat(events)
        .extracting(event -> event.path("sequence_number").intValue())
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    JsonNode last = events.getLast().path("response");
    assertThat(last.at("/output/0/content/0/text").textValue()).isEqualTo("the sea ");
    assertThat(last.at("/usage/input_tokens").intValue()).isEqualTo(6);
    assertThat(last.at("/usage/output_tokens").intValue()).isEqualTo(2);
  }
}
