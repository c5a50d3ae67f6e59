package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Outcome;
import io.fairlead.core.Usage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResponseWatcherTest {

  private static final String JSON = "application/json";
  private static final String EVENTS = "text/event-stream; charset=utf-8";
  private static final String COUNTS =
      "{\"prompt_tokens\":11,\"total_tokens\":18,\"completion_tokens\":7,"
          + "\"prompt_tokens_details\":{\"audio_tokens\":0,\"cached_tokens\":5},\"x\":[{\"prompt_tokens\":1}]}";
  private static final String STREAM =
      ": comment\r\n\r\n"
          + "event: m\r\n"
          + "data: {\"id\":\"1\",\"choices\":[{\"delta\":{\"content\":\"{\\\"usage\\\":{}}"
          + " \\\\\"}}],\"usage\":null}\r\n\r\n"
          + "data:{\"choices\":[{\"usage\":{\"prompt_tokens\":99}}]}\n\n"
          + "data: {\"choices\":[],\n"
          + "data: \"usage\" : "
          + COUNTS
          + "}\r\rdata: not json \"{[\n\ndata: [DONE]\n\n";

  private static Usage watch(String contentType, String body) {
    ResponseWatcher watcher = new ResponseWatcher("/v1/completions", contentType);
    watcher.watch(Unpooled.copiedBuffer(body, StandardCharsets.UTF_8));
    return counts(watcher);
  }

  private static Usage counts(ResponseWatcher watcher) {
    Usage seen = watcher.usage();
    return new Usage(seen.promptTokens(), seen.completionTokens(), seen.cachedTokens());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/completions|application/json||true",
        "/v1/chat/completions?a=b|text/event-stream||true",
        "/v1/completions|application/json|{|false",
        "/v1/messages|Application/Problem+JSON|compressed|false",
        "/v1/responses|text/event-stream|: ping|false",
        "/v1/completions||{}|false",
        "/v1/completions||' ~ {'|false",
        "/v1/completions||' ~ '|true",
        "/v1/completions||[{}]|false",
        "/v1/completions||\uFEFF~ {|false",
        "/v1/completions|text/plain|: ping|false",
        "/v1/completions||da~ta: {}|false",
        "/v1/messages||event: x|false",
        "/v1/completions|text/plain|denied|true",
        "/v1/completions|text/html|<html>{|true",
        "/v1/completions|text/plain|o~k|true",
        "/v1/chat/completions/render|text/html||false",
        "/v1/messages/count_tokens|text/html|<html>|false",
        "/v1/audio/transcriptions|text/plain|So it goes.|false",
        "/pooling|||false"
      })
  void knowsWhatIsNoAnswerToACompletion(String path, String type, String body, boolean none) {
    ResponseWatcher watcher = new ResponseWatcher(path, type == null ? "" : type);
    if (body != null) {
      for (String piece : body.split("~", -1)) {
        watcher.watch(Unpooled.copiedBuffer(piece, StandardCharsets.UTF_8));
      }
    }
    assertThat(watcher.isNone()).isEqualTo(none);
  }

  @ParameterizedTest
  @CsvSource({
    "'', gzip, false",
    "application/json, gzip, false",
    "text/html, gzip, true",
    "'', '', true",
    "'', identity, true"
  })
  void nobodyKnowsWhatIsEncodedAndHasNoType(String type, String encoding, boolean none) {
    ResponseWatcher watcher = ResponseWatcher.of("/v1/completions", type, encoding);
    watcher.watch(Unpooled.wrappedBuffer(new byte[] {0x1f, (byte) 0x8b}));
    assertThat(watcher.isNone()).isEqualTo(none);
  }

  @Test
  void countsTheEventsOfAStream() {
    ResponseWatcher stream = new ResponseWatcher("/v1/completions", EVENTS);
    stream.watch(Unpooled.copiedBuffer(STREAM, StandardCharsets.UTF_8));
    assertThat(stream.usage().streamedEvents()).as("one of them on two lines").isEqualTo(5);

    ResponseWatcher document = new ResponseWatcher("/v1/completions", JSON);
    document.watch(Unpooled.copiedBuffer("data: {}\n\n", StandardCharsets.UTF_8));
    assertThat(document.usage().streamedEvents()).isZero();
  }

  @Test
  void readsUsageOfOneDocument() {
    assertThat(
            watch(JSON, "{\"choices\":[{\"m\":\"\\\"usage\\\":\"}],\"usage\": " + COUNTS + "}\n"))
        .isEqualTo(new Usage(11, 7, 5));
  }

  @Test
  void readsUsageOfAStream() {
    assertThat(watch(EVENTS, STREAM)).isEqualTo(new Usage(11, 7, 5));
  }

  @Test
  void readsUsageOfTheResponsesApi() {
    String usage =
        "{\"input_tokens\":3,\"input_tokens_details\":{\"cached_tokens\":2},\"output_tokens\":4}";
    assertThat(watch(JSON, "{\"usage\":" + usage + "}")).isEqualTo(new Usage(3, 4, 2));
    assertThat(
            watch(
                EVENTS,
                "event: response.completed\n"
                    + "data: {\"type\":\"response.completed\",\"response\":{\"a\":{},\"usage\":"
                    + usage
                    + "}}\n\n"))
        .isEqualTo(new Usage(3, 4, 2));
  }

  @Test
  void readsUsageOfTheMessagesApi() {
    String usage =
        "{\"input_tokens\":3,\"cache_creation_input_tokens\":4,"
            + "\"cache_read_input_tokens\":5,\"output_tokens\":1}";
    assertThat(watch(JSON, "{\"type\":\"message\",\"usage\":" + usage + "}"))
        .as("what was cached is told apart there")
        .isEqualTo(new Usage(12, 1, 5));
    String stream =
        "event: message_start\n"
            + "data: {\"type\":\"message_start\",\"message\":{\"content\":[],\"usage\":"
            + usage
            + "}}\n\n"
            + "event: content_block_delta\n"
            + "data:"
            + " {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\\"usage\\\":{\"}}\n\n"
            + "event: message_delta\n"
            + "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":9}}\n\n"
            + "event: message_stop\n"
            + "data: {\"type\":\"message_stop\"}\n\n";
    byte[] bytes = stream.getBytes(StandardCharsets.UTF_8);
    for (int cut = 0; cut <= bytes.length; cut++) {
      ResponseWatcher watcher = new ResponseWatcher("/v1/completions", EVENTS);
      watcher.watch(Unpooled.wrappedBuffer(bytes, 0, cut));
      watcher.watch(Unpooled.wrappedBuffer(bytes, cut, bytes.length - cut));
      assertThat(counts(watcher)).as("cut at %d", cut).isEqualTo(new Usage(12, 9, 5));
    }
  }

  /** As vLLM and SGLang end a stream whose engine fails after its head has gone out with 200. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"EngineCore \\\"x\\\":"
            + " {\",\"type\":\"InternalServerError\",\"param\":null,\"code\":500}}",
        "{\"error\": {\"code\": 503, \"message\": \"m\"}}",
        " \t{ \"error\" : {\"object\":\"error\",\"code\":599 } }",
      })
  void anErrorOfTheServersInAStreamIsAFailure(String error) {
    for (String before : List.of("", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")) {
      byte[] bytes =
          (before + "data: " + error + "\n\ndata: [DONE]\n\n").getBytes(StandardCharsets.UTF_8);
      for (int cut = 0; cut <= bytes.length; cut++) {
        ResponseWatcher watcher = new ResponseWatcher("/v1/completions", EVENTS);
        watcher.watch(Unpooled.wrappedBuffer(bytes, 0, cut));
        watcher.watch(Unpooled.wrappedBuffer(bytes, cut, bytes.length - cut));
        assertThat(watcher.failed()).as("cut at %d", cut).isTrue();
      }
    }
  }

  /** What a client does wrong says nothing of the server, and a text may be anything. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"too long\",\"type\":\"BadRequestError\",\"code\":400}}",
        "{\"error\":{\"message\":\"m\",\"code\":\"server_error\"}}",
        "{\"error\":{\"message\":\"m\",\"code\":600}}",
        "{\"error\":{\"message\":\"m\"},\"code\":500}",
        "{\"error\":{\"inner\":{\"code\":500}}}",
        "{\"error\":null,\"usage\":{\"code\":500}}",
        "{\"choices\":[{\"delta\":{\"content\":\"{\\\"error\\\":{\\\"code\\\":500}}\"}}]}",
        "{\"choices\":[{\"error\":{\"code\":500}}]}",
        "{\"id\":\"x\",\"error\":{\"code\":500},\"usage\":{}}",
        "1 {\"error\":{\"code\":500}}",
      })
  void whatIsNoErrorOfTheServersIsNoFailure(String event) {
    byte[] bytes = ("data: " + event + "\n\n").getBytes(StandardCharsets.UTF_8);
    for (int cut = 0; cut <= bytes.length; cut++) {
      ResponseWatcher watcher = new ResponseWatcher("/v1/completions", EVENTS);
      watcher.watch(Unpooled.wrappedBuffer(bytes, 0, cut));
      watcher.watch(Unpooled.wrappedBuffer(bytes, cut, bytes.length - cut));
      assertThat(watcher.failed()).as("cut at %d", cut).isFalse();
    }
  }

  /** As vLLM, older vLLM, OpenAI and Ollama say it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":{\"message\":\"m\",\"type\":\"NotFoundError\",\"param\":\"model\",\"code\":404}}",
        "{\"object\":\"error\",\"message\":\"The model `x` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}",
        "{\"error\":{\"message\":\"m\",\"param\":null,\"code\":\"model_not_found\"}}",
        "{\"error\":{\"message\":\"model \\\"x\\\" not found, try pulling it first\",\"type\":\"not_found_error\"}}",
        " {\"error\" : {\"message\":\"model 'x' not found\"} }\n",
      })
  void aServerSaysThatItDoesNotKnowTheModel(String error) {
    byte[] bytes = error.getBytes(StandardCharsets.UTF_8);
    for (String path : List.of("/v1/chat/completions", "/v1/embeddings")) {
      for (int cut = 0; cut <= bytes.length; cut++) {
        ResponseWatcher watcher = new ResponseWatcher(path, JSON);
        watcher.watch(Unpooled.wrappedBuffer(bytes, 0, cut));
        watcher.watch(Unpooled.wrappedBuffer(bytes, cut, bytes.length - cut));
        assertThat(watcher.isOfUnknownModel(404)).as("%s, cut at %d", path, cut).isTrue();
        assertThat(watcher.isOfUnknownModel(400)).isFalse();
      }
    }
  }

  /** Of a path that a server lacks, an earlier answer that is not there, or of a proxy. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "404 page not found",
        "<html><body>The model 'x' is gone",
        "{\"detail\":\"Not Found\"}",
        "{\"error\":{\"message\":\"Not Found\",\"type\":\"Not Found\",\"param\":null,\"code\":404}}",
        "{\"error\":{\"message\":\"File Not Found\",\"type\":\"not_found_error\",\"code\":404}}",
        "{\"error\":{\"message\":\"Response with id 'x' not found.\",\"param\":\"response_id\",\"code\":404}}",
        "{\"error\":{\"message\":\"The model does not support Chat Completions API\",\"code\":404}}",
        "{\"error\":{\"message\":\"The model\",\"param\":\"models\",\"code\":\"model_not_founder\"}}",
        "{\"error\":{\"inner\":{\"param\":\"model\"}}}",
      })
  void any404ElseIsNone(String body) {
    ResponseWatcher watcher = new ResponseWatcher("/v1/chat/completions", JSON);
    watcher.watch(Unpooled.copiedBuffer(body, StandardCharsets.UTF_8));
    assertThat(watcher.isOfUnknownModel(404)).isFalse();
  }

  /** Its head has gone out with 200, and what it says counts in the status's place. */
  @Test
  void anErrorInAStreamMaySaySoToo() {
    ResponseWatcher watcher = new ResponseWatcher("/v1/chat/completions", EVENTS);
    watcher.watch(
        Unpooled.copiedBuffer(
            "data: {\"error\":{\"param\":\"model\",\"code\":404}}\n\n", StandardCharsets.UTF_8));
    assertThat(watcher.isOfUnknownModel(200)).isTrue();
  }

  /** With a status below 300; each in one piece and in an event of a stream. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"error\":\"out of memory\"}|REFUSED",
        "{\"error\":{\"message\":\"m\",\"type\":\"server_error\",\"code\":null}}|REFUSED",
        "{\"error\":{\"message\":\"m\",\"code\":\"internal_error\"}}|REFUSED",
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}|REFUSED",
        "{\"object\":\"error\",\"message\":\"m\",\"type\":\"x\",\"param\":null,\"code\":50001}|REFUSED",
        "{\"object\":\"error\",\"message\":\"m\",\"type\":\"x\",\"param\":null,\"code\":500}|FAILED",
        "{\"id\":\"x\",\"error\":{\"message\":\"m\",\"code\":503},\"usage\":{}}|FAILED",
        "{\"error\":{\"message\":\"too long\",\"code\":400}}|INVALID",
        "{\"object\":\"error\",\"message\":\"no such model\",\"code\":404}|REFUSED",
        "{\"error\":{\"message\":\"slow down\",\"code\":429}}|REFUSED",
      })
  void anErrorAloneIsNoAnswer(String error, Outcome outcome) {
    for (String type : List.of(JSON, EVENTS)) {
      String body = type.equals(JSON) ? error : ": ping\n\ndata: " + error + "\n\ndata: [DONE]\n\n";
      byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
      for (int cut = 0; cut <= bytes.length; cut++) {
        ResponseWatcher watcher = new ResponseWatcher("/v1/chat/completions", type);
        watcher.watch(Unpooled.wrappedBuffer(bytes, 0, cut));
        watcher.watch(Unpooled.wrappedBuffer(bytes, cut, bytes.length - cut));
        assertThat(watcher.outcome(200)).as("%s, cut at %d", type, cut).isEqualTo(outcome);
        assertThat(watcher.isError()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/completions|{\"object\":\"text_completion\",\"choices\":[{\"text\":\"error\"}],\"error\":null}",
        "/v1/chat/completions|{\"error\":null,\"choices\":[]}",
        "/v1/chat/completions|{\"error\":{\"code\":\"late\"},\"choices\":[{}]}",
        "/v1/chat/completions|{\"object\":\"chat.completion.chunk\",\"choices\":[]}~{\"error\":\"m\"}",
        "/v1/messages|{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"error\"}]}",
        "/v1/messages|{\"type\":\"message_start\",\"message\":{\"content\":[]}}~{\"type\":\"ping\"}",
        "/v1/responses|{\"object\":\"response\",\"error\":null,\"output\":[]}",
        "/v1/responses|{\"response\":{\"error\":null}}~{\"delta\":\"error\"}",
        "/v1/embeddings|{\"object\":\"list\",\"data\":[]}",
        "/v1/rerank|{\"error\":\"m\"}",
        "/tokenize|{\"object\":\"error\",\"code\":400}",
        "/v1/completions|{\"object\":\"errors\",\"choices\":[]}",
      })
  void anAnswerIsServedThoughItSpeaksOfErrors(String path, String body) {
    ResponseWatcher document = new ResponseWatcher(path, JSON);
    ResponseWatcher stream = new ResponseWatcher(path, EVENTS);
    for (String event : (body + "~[DONE]").split("~", -1)) {
      document.watch(Unpooled.copiedBuffer(event, StandardCharsets.UTF_8));
      stream.watch(Unpooled.copiedBuffer("data: " + event + "\n\n", StandardCharsets.UTF_8));
    }
    assertThat(document.outcome(200)).isEqualTo(Outcome.COMPLETED);
    assertThat(stream.outcome(200)).isEqualTo(Outcome.COMPLETED);
  }

  private static final String TOKEN = "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}";
  private static final String NOT_FINISHED =
      "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":null}],\"usage\":null}";
  private static final String CREATED = "{\"type\":\"x\",\"response\":{\"usage\":null}}";
  private static final String STARTED =
      "{\"type\":\"message_start\",\"message\":{\"content\":[],\"usage\":{\"input_tokens\":3}}}";

  /** However the server says that all is well. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/chat/completions|{}|REFUSED",
        "/v1/chat/completions|null|REFUSED",
        "/v1/chat/completions|\"ok\"|REFUSED",
        "/v1/chat/completions|7|REFUSED",
        "/v1/chat/completions|{\"status\":\"ok\"}|REFUSED",
        "/v1/chat/completions|{\"error\":false}|REFUSED",
        "/v1/chat/completions|{\"choices\":null}|REFUSED",
        "/v1/chat/completions|{\"object\":\"list\",\"data\":[{\"id\":\"m\"}]}|REFUSED",
        "/v1/chat/completions|{\"id\":\"x\",\"obj|REFUSED",
        "/v1/chat/completions|{\"id\":\"x\",\"choices\":[{\"mess|FAILED",
        "/v1/chat/completions|{\"choices\":[{}]|FAILED",
        "/v1/chat/completions|{\"choices\":[{}],|FAILED",
        "/v1/responses|{\"output\":[{|FAILED",
        "/v1/messages|{\"content\":[|FAILED",
        "/completions|[{|FAILED",
        "/v1/messages|{\"id\":\"x\"}|REFUSED",
        "/v1/embeddings|{}|REFUSED",
        "/v1/embeddings|{\"choices\":[]}|REFUSED",
        "/v1/embeddings|{\"error\":\"m\"}|REFUSED",
        "/v1/embeddings|{\"error\":{\"code\":400}}|INVALID",
        "/v1/embeddings|{\"data\":[{|FAILED",
        "/v1/chat/completions|{\"id\":\"x\",\"choices\":[]}|COMPLETED",
        "/v1/chat/completions|{\"choices\":[{\"message\":{\"content\":null}}]} |COMPLETED",
        "/v1/completions|\uFEFF {\"choices\":[{\"text\":\"\"}]}|COMPLETED",
        "/v1/responses|{\"object\":\"response\",\"output\":[]}|COMPLETED",
        "/v1/messages|{\"type\":\"message\",\"content\":[]}|COMPLETED",
        "/completions|{\"content\":\"\"}|COMPLETED",
        "/completions|[{\"content\":\"a\"}]|COMPLETED",
        "/v1/completions|data: {}|COMPLETED",
        "/v1/embeddings|{\"object\":\"list\",\"data\":[]}|COMPLETED",
        "/api/embeddings|{\"embedding\":[0.5]}|COMPLETED",
        "/embeddings|[{\"embedding\":[0.5]}]|COMPLETED",
        "/v1/rerank|{}|COMPLETED",
        "/tokenize|null|COMPLETED",
        "/anything|{\"a|COMPLETED",
      })
  void aDocumentIsAnAnswerByWhatItHas(String path, String body, Outcome outcome) {
    assertThat(ended(path, JSON, body)).containsOnly(outcome);
  }

  @Test
  void aStreamIsAnAnswerByWhatItHas() {
    String chat = "/v1/chat/completions";
    assertThat(ended(chat, EVENTS, events("[DONE]"))).containsOnly(Outcome.REFUSED);
    assertThat(ended(chat, EVENTS, ": ping\n\n: ping\n\n")).containsOnly(Outcome.REFUSED);
    assertThat(ended(chat, EVENTS, events("{}", "{\"status\":\"ok\"}", "[DONE]")))
        .containsOnly(Outcome.REFUSED);
    assertThat(ended("/v1/messages", EVENTS, events("{\"type\":\"ping\"}")))
        .containsOnly(Outcome.REFUSED);
  }

  @Test
  void aStreamThatEndsWithoutSayingSoHasBrokenOff() {
    String text = "{\"choices\":[{\"text\":\"\\\"finish_reason\\\":\\\"stop\\\" [DONE]\"}]}";
    String spaced = "{\"choices\": [{\"delta\": {}, \"finish_reason\": null}], \"usage\": null}";
    for (String body :
        List.of(
            events(TOKEN),
            events(TOKEN, TOKEN),
            events(NOT_FINISHED, NOT_FINISHED, NOT_FINISHED),
            events(spaced, spaced),
            events(TOKEN, text),
            "event: x\n" + events(TOKEN) + ": message_stop\n\n")) {
      assertThat(ended("/v1/chat/completions", EVENTS, body)).as(body).containsOnly(Outcome.FAILED);
    }
    String delta =
        "event: response.output_text.delta\n" + events("{\"delta\":\"response.completed\"}");
    assertThat(
            ended("/v1/responses", EVENTS, "event: response.created\n" + events(CREATED) + delta))
        .containsOnly(Outcome.FAILED);
    assertThat(
            ended(
                "/v1/messages",
                EVENTS,
                events(STARTED)
                    + "event: content_block_stop\n"
                    + events("{\"type\":\"content_block_stop\"}")))
        .containsOnly(Outcome.FAILED);
  }

  /** As the servers do that there are, and as some of them do no more. */
  @Test
  void aStreamIsWholeThatSaysSoInAnyOfItsWays() {
    String finish =
        "{\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":null}";
    String counts = "{\"choices\":[],\"usage\":" + COUNTS + "}";
    for (String body :
        List.of(
            events(TOKEN, "[DONE]"),
            events(NOT_FINISHED, NOT_FINISHED, finish),
            events(TOKEN, finish, "[DONE]"),
            events(finish),
            events(TOKEN, counts),
            events(counts, "[DONE]"),
            events(NOT_FINISHED, "{\"choices\": [{\"finish_reason\" : \"length\"}]}"),
            events("{\"choices\":[{\"delta\":{\"reasoning_content\":\"a\"}}]}", "[DONE]"),
            events("{\"choices\":[{\"delta\":{\"tool_calls\":[{}]}}]}", "[DONE]"),
            events(TOKEN, "{\"error\":{\"message\":\"m\",\"code\":400}}"),
            "data:" + TOKEN + "\r\n\r\ndata:[DONE]\r\n\r\n",
            // Of llama.cpp's own API, which ends without a last word.
            events("{\"content\":\"a\",\"stop\":false}", "{\"content\":\"\",\"stop\":true}"))) {
      assertThat(ended("/v1/chat/completions", EVENTS, body))
          .as(body)
          .containsOnly(Outcome.COMPLETED);
    }
    for (String end :
        List.of("response.completed", "response.incomplete", "response.failed", "error")) {
      String body = events(CREATED) + "event: " + end + "\n" + events("{\"type\":\"x\"}");
      assertThat(ended("/v1/responses", EVENTS, body)).as(end).containsOnly(Outcome.COMPLETED);
    }
    assertThat(
            ended(
                "/v1/responses",
                EVENTS,
                events(CREATED, "{\"response\":{\"usage\":{\"input_tokens\":3}}}")))
        .containsOnly(Outcome.COMPLETED);
    assertThat(ended("/v1/messages", EVENTS, events(STARTED, "{\"usage\":{\"output_tokens\":9}}")))
        .containsOnly(Outcome.COMPLETED);
    assertThat(
            ended(
                "/v1/messages",
                EVENTS,
                events(STARTED) + "event:message_stop\r\n" + events("{\"type\":\"message_stop\"}")))
        .containsOnly(Outcome.COMPLETED);
  }

  @Test
  void whatNobodyCanReadIsNotJudged() {
    for (ResponseWatcher watcher :
        List.of(
            ResponseWatcher.of("/v1/completions", JSON, "gzip"),
            ResponseWatcher.of("/v1/completions", EVENTS, "br"),
            ResponseWatcher.of("/v1/embeddings", JSON, "gzip"),
            ResponseWatcher.withoutHeaders("/v1/completions", EVENTS),
            ResponseWatcher.withoutHeaders("/v1/completions", JSON))) {
      watcher.watch(Unpooled.wrappedBuffer(new byte[] {0x1f, (byte) 0x8b}));
      assertThat(watcher.outcome(200)).isEqualTo(Outcome.COMPLETED);
    }
  }

  /** A switch to another protocol, which nobody has asked for. */
  @ParameterizedTest
  @ValueSource(ints = {100, 101, 199})
  void anInterimStatusAtTheEndIsAFailure(int status) {
    for (String path : List.of("/v1/completions", "/pooling")) {
      assertThat(new ResponseWatcher(path, "").outcome(status)).isEqualTo(Outcome.FAILED);
    }
  }

  private static String events(String... events) {
    StringBuilder stream = new StringBuilder();
    for (String event : events) {
      stream.append("data: ").append(event).append("\n\n");
    }
    return stream.toString();
  }

  /** How it is judged, wherever it is cut. */
  private static Set<Outcome> ended(String path, String type, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    Set<Outcome> outcomes = EnumSet.noneOf(Outcome.class);
    for (int cut = 0; cut <= bytes.length; cut++) {
      ResponseWatcher watcher = new ResponseWatcher(path, type);
      watcher.watch(Unpooled.wrappedBuffer(bytes, 0, cut));
      watcher.watch(Unpooled.wrappedBuffer(bytes, cut, bytes.length - cut));
      outcomes.add(watcher.outcome(200));
    }
    return outcomes;
  }

  @Test
  void anyCutGivesTheSame() {
    byte[] bytes = STREAM.getBytes(StandardCharsets.UTF_8);
    for (long seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      ResponseWatcher watcher = new ResponseWatcher("/v1/completions", EVENTS);
      ByteBuf body = Unpooled.wrappedBuffer(bytes);
      while (body.isReadable()) {
        watcher.watch(body.readSlice(Math.min(body.readableBytes(), 1 + random.nextInt(40))));
      }
      assertThat(counts(watcher)).as("seed %d", seed).isEqualTo(new Usage(11, 7, 5));
    }
  }

  @Test
  void watchingConsumesNothing() {
    ByteBuf body = Unpooled.copiedBuffer("{}", StandardCharsets.UTF_8);
    new ResponseWatcher("/v1/completions", JSON).watch(body);
    assertThat(body.readableBytes()).isEqualTo(2);
    assertThat(body.refCnt()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"usage\":7}",
        "{\"usage\":\"{}\"}",
        "{\"usage\":[1]}",
        "{\"usage\":null}",
        "{\"usage\":{}}",
        "{\"usage\":{\"prompt_tokens\":\"11\",\"completion_tokens\":-7}}",
        "{\"usage\":{\"prompt_tokens\":1.5,\"completion_tokens\":1e3}}",
        "{\"usage\":{\"prompt_tokens\":99999999999999999999999,\"completion_tokens\":null}}",
        "{\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":\"x\"}}}",
        "{\"usage\":{\"prompt_tokens\":{},\"completion_tokens\":[]}}",
        "{\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7",
        "}}}}]]]{{{{",
      })
  void whatIsNoCountIsUnknown(String body) {
    assertThat(watch(JSON, body)).isEqualTo(Usage.UNKNOWN);
    assertThat(watch(EVENTS, "data: " + body + "\n\n")).isEqualTo(Usage.UNKNOWN);
  }

  @Test
  void neverThrows() {
    String alphabet = "{}[]\":,\\ \n\rdata:usageprompt_tokens0123456789-";
    for (long seed = 0; seed < 3_000; seed++) {
      Random random = new Random(seed);
      StringBuilder body = new StringBuilder();
      for (int i = random.nextInt(200); i > 0; i--) {
        body.append(
            random.nextInt(10) == 0
                ? COUNTS
                : alphabet.substring(random.nextInt(alphabet.length())));
      }
      for (String type : new String[] {JSON, EVENTS}) {
        Usage usage = watch(type, body.toString());
        assertThat(usage.promptTokens()).as("seed %d", seed).isGreaterThanOrEqualTo(-1);
      }
    }
  }

  @Test
  void whateverTheBytesAreWordsTellWhatSingleBytesTell() {
    String alphabet = "{}[]\":,\\u \t\n\rdata:@@@#####%%%%&&!!+++^^^**~$";
    for (long seed = 0; seed < 20_000; seed++) {
      Random random = new Random(seed);
      StringBuilder text = new StringBuilder(random.nextBoolean() ? "data: {" : "{");
      for (int i = random.nextInt(60); i > 0; i--) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      byte[] body =
          text.toString()
              .replace("@", "\"usage\":{\"prompt_tokens\":" + random.nextInt(9) + "}")
              .replace("%", "\n\ndata: ")
              .replace("&", "\"usage\":null")
              .replace("!", "\"error\":{\"code\":500}")
              .replace("+", "\"choices\":[]")
              .replace("^", "\"finish_reason\": null")
              .replace("*", "\"finish_reason\":\"stop\"")
              .replace("~", "\nevent: message_stop\n")
              .replace("$", "[DONE]")
              .replace("#", "\"some text é\"")
              .getBytes(StandardCharsets.UTF_8);
      String type = random.nextBoolean() ? JSON : EVENTS;
      ResponseWatcher single = new ResponseWatcher("/v1/completions", type);
      for (byte b : body) {
        single.watch(Unpooled.wrappedBuffer(new byte[] {b}));
      }
      for (ByteBuf buffer : List.of(Unpooled.wrappedBuffer(body), Unpooled.directBuffer())) {
        if (buffer.isDirect()) {
          buffer.writeBytes(body);
        }
        ResponseWatcher whole = new ResponseWatcher("/v1/completions", type);
        int cut = random.nextInt(body.length + 1);
        whole.watch(buffer.slice(0, cut));
        whole.watch(buffer.slice(cut, body.length - cut));
        assertThat(whole.usage()).as("seed %d", seed).isEqualTo(single.usage());
        assertThat(whole.failed()).as("seed %d", seed).isEqualTo(single.failed());
        assertThat(whole.isError()).as("seed %d", seed).isEqualTo(single.isError());
        assertThat(whole.outcome(200)).as("seed %d", seed).isEqualTo(single.outcome(200));
        buffer.release();
      }
    }
  }

  @Test
  void readsALongBodyOutsideOfTheHeap() {
    for (int length = 8 * 1024 - 60; length < 8 * 1024; length++) {
      String body = "{\"text\":\"" + "x".repeat(length) + "\",\"usage\":" + COUNTS + "}";
      ByteBuf direct = Unpooled.directBuffer().writeBytes(body.getBytes(StandardCharsets.UTF_8));
      ResponseWatcher watcher = new ResponseWatcher("/v1/completions", JSON);
      watcher.watch(direct);
      assertThat(direct.readableBytes()).as("not consumed").isEqualTo(body.length());
      direct.release();
      assertThat(counts(watcher)).isEqualTo(new Usage(11, 7, 5));
    }
  }
}
