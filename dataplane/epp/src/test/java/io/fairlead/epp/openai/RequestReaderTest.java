package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.management.ThreadMXBean;
import io.fairlead.core.PromptSize;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RequestReaderTest {

  private static final String CHAT = "/v1/chat/completions";
  private static final String LONG = "x".repeat(300);

  private final RequestReader reader = new RequestReader();

  private ParsedRequest read(String path, String json) throws BadRequestException {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    return reader.read(path, BodyBytes.of(body));
  }

  private BadRequestException refused(String path, String json) {
    return catchThrowableOfType(BadRequestException.class, () -> read(path, json));
  }

  private static String chat(String rest) {
    return "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\""
        + LONG
        + "\"}]"
        + rest
        + "}";
  }

  @Test
  void readsModelAndLimit() throws BadRequestException {
    String json =
        "{\"max_tokens\": 90, \"model\" : \"a\\u002fb\", \"stream\": true,"
            + " \"max_completion_tokens\": 70, \"messages\":[{\"content\":\"hi\"}]}";

    ParsedRequest request = read(CHAT + "?trace=1", json);

    assertThat(request.model()).isEqualTo("a/b");
    assertThat(json.substring(request.modelStart(), request.modelEnd())).isEqualTo("\"a\\u002fb\"");
    assertThat(request.maxOutputTokens()).isEqualTo(70);
    assertThat(request.streamed()).isTrue();
    assertThat(request.prompt()).isEqualTo(new PromptSize("[{\"content\":\"hi\"}]".length(), 0));
  }

  @ParameterizedTest
  @CsvSource({"true,true", "false,false", "null,false", "1,false", "'\"true\"',false", "[],false"})
  void isStreamedOnlyIfItSaysTrue(String value, boolean streamed) throws BadRequestException {
    assertThat(read(CHAT, chat(",\"stream\": " + value)).streamed()).isEqualTo(streamed);
    assertThat(read(CHAT, chat("")).streamed()).isFalse();
    assertThat(refused(CHAT, chat(",\"stream\":true,\"stream\":false")).code())
        .isEqualTo(ErrorCodes.DUPLICATE_FIELD);
  }

  @ParameterizedTest
  @CsvSource({"'\"resp_1\"',true", "null,false", "7,false"})
  void readsWhetherAnEarlierAnswerIsNamed(String value, boolean followsUp) throws Exception {
    assertThat(read(CHAT, chat(",\"previous_response_id\": " + value)).followsUp())
        .isEqualTo(followsUp);
  }

  @Test
  void offsetsCountFromTheBodysFirstByte() throws BadRequestException {
    byte[] padded = "junk{\"model\":\"m\",\"prompt\":\"p\"}junk".getBytes(StandardCharsets.UTF_8);

    ParsedRequest request =
        reader.read("/v1/completions", BodyBytes.of(padded, 4, padded.length - 8));

    assertThat(request.modelStart()).isEqualTo(9);
    assertThat(request.modelEnd()).isEqualTo(12);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{}                                           | invalid_model",
        "{\"model\":null,\"messages\":[1]}            | invalid_model",
        "{\"model\":7,\"messages\":[1]}               | invalid_model",
        "{\"model\":\"\",\"messages\":[1]}            | invalid_model",
        "{\"messages\":[1]}                           | invalid_model",
        "{\"model\":\"m\",\"model\":\"n\",\"messages\":[1]} | duplicate_field",
        "{\"model\":\"m\",\"mod\\u0065l\":\"n\",\"messages\":[1]} | duplicate_field",
        "{\"model\":\"m\"}                            | missing_field",
        "{\"model\":\"m\",\"messages\":[ ]}           | missing_field",
        "{\"model\":\"m\",\"messages\":\"hi\"}        | missing_field",
        "{\"model\":\"m\",\"messages\":null}          | missing_field",
        "{\"model\":\"m\",\"messages\":[1]} x         | invalid_json",
        "{\"model\":\"m\",\"messages\":[1],}          | invalid_json",
        "{\"model\":\"m\",\"messages\":[01]}          | invalid_json",
        "{\"model\":\"m\\x\",\"messages\":[1]}        | invalid_json",
        "[1]                                          | invalid_json",
      })
  void refuses(String json, String code) {
    BadRequestException bad = refused(CHAT, json);

    assertThat(bad.status()).isEqualTo(400);
    assertThat(bad.code()).isEqualTo(code);
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/completions,prompt",
    "/v1/embeddings,input",
    "/v1/responses,input",
  })
  void needsThePromptOfItsPath(String path, String field) throws BadRequestException {
    String other = "{\"model\":\"m\",\"query\":\"q\"}";
    assertThat(refused(path, other).getMessage()).contains("'" + field + "'");
    assertThat(read(path, "{\"model\":\"m\",\"" + field + "\":\"t\"}").model()).isEqualTo("m");
    assertThat(read(path, "{\"model\":\"m\",\"" + field + "\":[1]}").model()).isEqualTo("m");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/v1/messages         | {'model':'m','system':'s','messages':[1]}     | `'s'[1]`",
        "/v1/embeddings       | {'model':'m','messages':[1]}                  | [1]",
        "/v1/embeddings       | {'model':'m','input':'t'}                     | 't'",
        "/pooling             | {'model':'m','input':['t']}                   | ['t']",
        "/classify            | {'model':'m','messages':[1],'input':'no'}     | [1]",
        "/v1/rerank           | {'documents':['d'],'model':'m','query':'q'}   | `'q'['d']`",
        "/score               | {'model':'m','text_1':'a','text_2':['b']}     | `'a'['b']`",
        "/generate            | {'model':'m','text':'t','input_ids':[9]}      | 't'",
        "/inference/v1/generate | {'model':'m','token_ids':[1,2]}             | [1,2]",
      })
  void readsThePromptOfEveryPath(String path, String json, String prompt)
      throws BadRequestException {
    assertThat(read(path, json.replace('\'', '"')).prompt())
        .isEqualTo(new PromptSize(prompt.replace("`", "").length(), 0));
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/embeddings, 0",
    "/pooling, 0",
    "/classify, 0",
    "/v1/rerank, 0",
    "/score, 0",
    "/tokenize, 0",
    "/v1/messages/count_tokens, 0",
    "/v1/chat/completions, -1",
    "/v1/completions, -1",
    "/v1/responses, -1",
    "/v1/messages, -1",
    "/generate, -1",
    "/v1/anything, -1",
  })
  void whatIsNoTextHasNoOutput(String path, int most) throws BadRequestException {
    String body = "{\"model\":\"m\",\"messages\":[1],\"prompt\":\"t\",\"input\":\"t\"}";
    assertThat(read(path, body).maxOutputTokens()).isEqualTo(most);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/tokenize", "/v1/messages/count_tokens", "/v1/completions/render"})
  void whatNoEngineComputesIsNoPrompt(String path) throws BadRequestException {
    ParsedRequest request =
        read(path, "{\"model\":\"m\",\"system\":\"s\",\"prompt\":\"" + LONG + "\"}");

    assertThat(request.model()).isEqualTo("m");
    assertThat(request.prompt()).isEqualTo(PromptSize.NONE);
    assertThat(request.blocks()).isEmpty();
  }

  /** Whoever is behind a path that is not known says what is wrong with a request. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"lora_name\":\"a\"}",
        "{}",
        "{\"model\":null}",
        "{\"model\":7}",
        "{\"model\":\"\"}",
        "[{\"model\":\"m\"}]",
        "\"text\"",
        "{\"model\":"
      })
  void whatCannotBeReadOnOtherPathsPassesUnread(String json) throws BadRequestException {
    ParsedRequest request = read("/v1/load_lora_adapter", json);
    assertThat(request.model()).isEmpty();
    assertThat(request.prompt()).isEqualTo(PromptSize.NONE);
  }

  @Test
  void whatCanBeReadOnOtherPathsCounts() throws BadRequestException {
    ParsedRequest request = read("/v2/other", "{\"model\":\"m\",\"prompt\":\"" + LONG + "\"}");
    assertThat(request.model()).isEqualTo("m");
    assertThat(request.blocks()).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/tokenize", "/detokenize", "/v1/rerank", "/score", "/pooling", "/classify"})
  void aModelNeedNotBeNamedWhereServersHaveADefault(String path) throws BadRequestException {
    assertThat(read(path, "{\"x\":1}").model()).isEmpty();
    assertThat(read(path, "{\"model\":null}").model()).isEmpty();
    assertThat(read(path, "{\"model\":\"n\"}").model()).isEqualTo("n");
    assertThat(refused(path, "{\"model\":7}").code()).isEqualTo(ErrorCodes.INVALID_MODEL);
    assertThat(refused(path, "{\"model\":").code()).isEqualTo(ErrorCodes.INVALID_JSON);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "{\"",
        "{\"model\"",
        "{\"model\":",
        "{\"model\":\"m",
        "null",
        "\uFEFF"
      })
  void refusesWhatIsCutOff(String json) {
    assertThat(refused(CHAT, json).code()).isEqualTo(ErrorCodes.INVALID_JSON);
  }

  /** As files of Windows begin, and model servers take it; however it is cut. */
  @Test
  void aByteOrderMarkMayComeFirst() throws BadRequestException {
    String json = "\ufeff" + chat("");
    ParsedRequest marked = read(CHAT, json);
    assertThat(marked.model()).isEqualTo("m");
    assertThat(marked.blocks()).isEqualTo(read(CHAT, chat("")).blocks());
    assertThat(
            new String(json.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1)
                .substring(marked.modelStart(), marked.modelEnd()))
        .isEqualTo("\"m\"");

    assertThat(refused(CHAT, "\ufeff").getMessage()).contains("at byte 3 it ends too early");
    assertThat(refused(CHAT, "\ufeff\ufeff" + chat("")).getMessage()).contains("at byte 3");
    assertThat(refused(CHAT, " \ufeff" + chat("")).getMessage()).contains("at byte 1");
  }

  @Test
  void boundsNesting() throws BadRequestException {
    int free = JsonScanner.MAX_DEPTH - 1;
    String most = "[".repeat(free) + "]".repeat(free);
    assertThat(read(CHAT, chat(",\"x\":" + most)).model()).isEqualTo("m");
    assertThat(refused(CHAT, chat(",\"x\":[" + most + "]")).getMessage()).contains("nested");
    assertThat(refused(CHAT, chat(",\"x\":" + "[".repeat(1_000_000))).getMessage())
        .contains("nested");
  }

  @ParameterizedTest
  @CsvSource({
    "0,0",
    "2147483647,2147483647",
    "99999999999999999999,2147483647",
    "-1,-1",
    "1.5,-1",
    "null,-1",
    "true,-1"
  })
  void readsALimitThatIsAWholeNumber(String value, int expected) throws BadRequestException {
    assertThat(read(CHAT, chat(",\"max_tokens\":" + value)).maxOutputTokens()).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/chat/completions | {} | 1",
        "/v1/chat/completions | {\"n\":8} | 8",
        "/v1/chat/completions | {\"n\":0} | 1",
        "/v1/chat/completions | {\"n\":-3} | 1",
        "/v1/chat/completions | {\"n\":2.5} | 1",
        "/v1/chat/completions | {\"n\":null} | 1",
        "/v1/chat/completions | {\"n\":[8]} | 1",
        "/v1/chat/completions | {\"n\":\"8\"} | 1",
        "/v1/chat/completions | {\"n\":99999999999999999999} | 1024",
        "/v1/chat/completions | {\"best_of\":4} | 1",
        "/v1/completions | {\"n\":2,\"best_of\":4} | 4",
        "/v1/completions | {\"prompt\":[\"a\", \"b,c\",\"d\"]} | 3",
        "/v1/completions | {\"prompt\":[ \"a\" ]} | 1",
        "/v1/completions | {\"n\":2,\"prompt\":[\"a\",\"b\"]} | 4",
        "/v1/completions | {\"prompt\":[1,2,3,4]} | 1",
        "/v1/completions | {\"prompt\":[[1,2],[3,4,5]]} | 2",
        "/v1/embeddings | {\"n\":8,\"input\":[\"a\",\"b\"]} | 1",
        "/v1/messages | {\"n\":8} | 1",
      })
  void readsHowManyAnswersItAsksFor(String path, String fields, int answers)
      throws BadRequestException {
    String rest = fields.substring(1, fields.length() - 1);
    String body = "{\"model\":\"m\"" + (rest.isEmpty() ? "" : ",") + rest;
    String prompt = path.endsWith("/v1/completions") ? "\"prompt\":\"t\"" : "\"messages\":[1]";
    body += rest.contains("prompt") || rest.contains("input") ? "}" : "," + prompt + "}";
    assertThat(read(path, body).answers()).isEqualTo(answers);
  }

  @Test
  void hashesDoNotSeeWhitespaceOrFieldOrder() throws BadRequestException {
    long[] blocks = read(CHAT, chat(",\"tools\":[{\"a\":1,\"b\":[]}]")).blocks();
    String spaced =
        "{ \"tools\" : [ { \"a\" : 1 ,\n"
            + " \"b\" : [ ] } ] , \"messages\" :\t[ {\"role\":\"user\", \"content\": \""
            + LONG
            + "\"} ] , \"model\":\"other\" }";

    assertThat(read(CHAT, spaced).blocks()).isEqualTo(blocks).hasSizeGreaterThan(4);
  }

  @Test
  void promptsOfDifferentCacheSaltsShareNoBlock() throws BadRequestException {
    String common = "s".repeat(200);
    long[] plain = read(CHAT, chat("")).blocks();
    long[] one = read(CHAT, chat(",\"cache_salt\":\"" + common + "1\"")).blocks();
    long[] two = read(CHAT, chat(",\"cache_salt\":\"" + common + "2\"")).blocks();

    assertThat(one).hasSameSizeAs(plain).doesNotContain(plain);
    assertThat(two).hasSameSizeAs(plain).doesNotContain(plain).doesNotContain(one);
    assertThat(read(CHAT, chat(",\"cache_salt\":\"" + common + "1\"")).blocks()).isEqualTo(one);
    assertThat(read(CHAT, chat(",\"cache_salt\":null")).blocks()).isEqualTo(plain);
    assertThat(read(CHAT, chat(",\"cache_salt\":\"t\"")).prompt())
        .isEqualTo(read(CHAT, chat("")).prompt());
  }

  @Test
  void toolsComeBeforeTheMessages() throws BadRequestException {
    long[] plain = read(CHAT, chat("")).blocks();
    String tool = "{\"type\":\"function\",\"function\":{\"name\":\"" + LONG + "\"}}";
    long[] one = read(CHAT, chat(",\"tools\":[" + tool + ",1]")).blocks();
    long[] two = read(CHAT, chat(",\"tools\":[" + tool + ",2]")).blocks();
    long[] otherMessages =
        read(CHAT, chat(",\"tools\":[" + tool + ",1]").replace("\"user\"", "\"tool\"")).blocks();

    assertThat(read(CHAT, chat(",\"tools\":[1]")).blocks()[0]).isNotEqualTo(plain[0]);
    assertThat(one).startsWith(two[0], two[1], two[2], two[3]).doesNotContain(plain);
    assertThat(one[one.length - 1]).isNotEqualTo(two[two.length - 1]);
    assertThat(otherMessages).as("the tools are shared").startsWith(one[0], one[1], one[2], one[3]);
    assertThat(read(CHAT, chat(",\"tools\":null")).blocks()).isEqualTo(plain);
    assertThat(read(CHAT, chat(",\"prompt\":\"ignored here\"")).blocks()).isEqualTo(plain);
  }

  @Test
  void systemComesFirstAndRolesAndTheOrderOfMessagesCount() throws BadRequestException {
    long[] plain = read(CHAT, chat("")).blocks();
    String two =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
            + "{\"role\":\"assistant\",\"content\":\"b\"}],\"system\":\""
            + LONG
            + "\"}";
    long[] system = read(CHAT, two).blocks();
    long[] swapped = read(CHAT, two.replace("user", "x").replace("assistant", "user")).blocks();

    assertThat(system).startsWith(read(CHAT, two.replace("\"a\"", "\"c\"")).blocks()[0]);
    assertThat(system).startsWith(swapped[0], swapped[1], swapped[2], swapped[3]);
    assertThat(system[4]).isNotEqualTo(swapped[4]);
    assertThat(read(CHAT, chat("").replace("\"user\"", "\"tool\"")).blocks()[0])
        .isNotEqualTo(plain[0]);
  }

  @Test
  void longerPromptKeepsItsPrefixsBlocks() throws BadRequestException {
    long[] first = read(CHAT, chat("")).blocks();
    long[] second =
        read(
                CHAT,
                chat("").replace("}]", "},{\"role\":\"assistant\",\"content\":\"" + LONG + "\"}]"))
            .blocks();

    assertThat(second).hasSizeGreaterThan(first.length).startsWith(first);
  }

  @Test
  void hashesAMillionTokens() throws BadRequestException {
    String text = "word ".repeat(838_500);
    String one = "[{\"content\":\"" + text + "1\"}]";
    String other = "[{\"content\":\"" + text + "2\"}]";
    long[] blocks = messages(one).blocks();

    assertThat(blocks).hasSizeGreaterThan(65_500).isEqualTo(PromptHashes.of(one));
    assertThat(messages(other).blocks()).startsWith(Arrays.copyOf(blocks, 65_500));
    assertThat(messages("[{\"content\":\"" + text + text + "\"}]").blocks())
        .as("and no more")
        .hasSize(RequestReader.DEFAULT_MAX_BLOCKS);
  }

  @Test
  void hashesALongListOfTokenIds() throws BadRequestException {
    String ids =
        IntStream.range(0, 200_000).mapToObj(Integer::toString).collect(Collectors.joining(", "));
    ParsedRequest read = read("/v1/completions", "{\"model\":\"m\",\"prompt\":[" + ids + "]}");

    String compact = "[" + ids.replace(" ", "") + "]";
    assertThat(read.prompt()).isEqualTo(new PromptSize(compact.length(), 0));
    assertThat(read.blocks()).isEqualTo(PromptHashes.of(compact)).hasSizeGreaterThan(20_000);
  }

  /** What a long prompt takes must neither be there beforehand nor stay. */
  @Test
  void aShortPromptTakesLittleMemoryAlsoAfterALongOne() throws BadRequestException {
    byte[] small = chat("").getBytes(StandardCharsets.UTF_8);
    String ids = "1, ".repeat(500_000) + "1";
    byte[] large = ("{\"model\":\"m\",\"prompt\":[" + ids + "]}").getBytes(StandardCharsets.UTF_8);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < 3; i++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      RequestReader fresh = new RequestReader();
      fresh.read(CHAT, BodyBytes.of(small));
      long first = threads.getCurrentThreadAllocatedBytes();
      fresh.read("/v1/completions", BodyBytes.of(large));
      long second = threads.getCurrentThreadAllocatedBytes();
      fresh.read(CHAT, BodyBytes.of(small));
      long third = threads.getCurrentThreadAllocatedBytes();

      assertThat(first - before).as("a reader and a short prompt").isLessThan(16_384);
      assertThat(second - first).as("a long prompt").isLessThan(6L * large.length);
      assertThat(third - second).as("a short prompt").isLessThan(4_096);
    }
  }

  private ParsedRequest messages(String messages) throws BadRequestException {
    return read(CHAT, "{\"model\":\"m\",\"messages\":" + messages + "}");
  }

  @Test
  void randomBytesAreRefusedAndNothingElseIsThrown() {
    for (long seed = 0; seed < 20_000; seed++) {
      Random random = new Random(seed);
      byte[] body = new byte[random.nextInt(64)];
      random.nextBytes(body);
      assertThat(
              catchThrowableOfType(
                  BadRequestException.class, () -> reader.read(CHAT, BodyBytes.of(body))))
          .as("seed %d", seed)
          .isNotNull();
    }
  }
}
