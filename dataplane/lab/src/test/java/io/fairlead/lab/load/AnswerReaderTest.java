package io.fairlead.lab.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class AnswerReaderTest {

  private static final String STREAM =
      """
      data: {"model":"m","choices":[{"delta":{"content":"\\"usage\\" of words"}}]}

      data: {"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,\
      "prompt_tokens_details":{"cached_tokens":4}}}

      data: [DONE]

      """;

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 10_000})
  void readsAStreamHoweverItIsCut(int piece) {
    AnswerReader answer = new AnswerReader(true, 0);
    feed(answer, STREAM, piece);

    assertThat(answer.complete()).isTrue();
    assertThat(answer.model()).isEqualTo("m");
    assertThat(answer.promptTokens()).isEqualTo(9);
    assertThat(answer.cachedTokens()).isEqualTo(4);
    assertThat(answer.outputTokens()).isEqualTo(3);
  }

  @Test
  void seesThatAStreamWasCutShort() {
    AnswerReader answer = new AnswerReader(true, 0);
    feed(answer, STREAM.substring(0, STREAM.indexOf("[DONE]")), 100);

    assertThat(answer.complete()).isFalse();
  }

  @Test
  void readsAWholeAnswer() {
    AnswerReader answer = new AnswerReader(false, 0);
    feed(answer, "{\"model\":\"m\",\n\"usage\":{\"completion_tokens\":5}}", 10);

    assertThat(answer.complete()).isTrue();
    assertThat(answer.model()).isEqualTo("m");
    assertThat(answer.outputTokens()).isEqualTo(5);
    assertThat(answer.cachedTokens()).isZero();
  }

  @Test
  void seesThatAWholeAnswerWasCutShort() {
    AnswerReader answer = new AnswerReader(false, 0);
    feed(answer, "{\"model\":\"m\",", 10);

    assertThat(answer.complete()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"error\":\"out of memory\"}",
        "{\"object\":\"error\",\"message\":\"out of memory\",\"code\":500}"
      })
  void anErrorIsNoAnswer(String body) {
    AnswerReader whole = new AnswerReader(false, 0);
    feed(whole, body, 10);
    AnswerReader alone = new AnswerReader(true, 0);
    feed(alone, "data: " + body + "\n\ndata: [DONE]\n\n", 10);
    AnswerReader unasked = new AnswerReader(true, 0);
    feed(unasked, body, 10);

    assertThat(whole.error()).isTrue();
    assertThat(alone.error()).isTrue();
    assertThat(unasked.error()).isTrue();
  }

  /** How vLLM tells of a failure when it has sent some of the answer. */
  @Test
  void anErrorMayComeInTheCourseOfAStream() {
    AnswerReader failed = new AnswerReader(true, 0);
    feed(
        failed,
        STREAM.replace("data: [DONE]", "data: {\"error\":{\"code\":500}}\n\ndata: [DONE]"),
        10);
    AnswerReader fine = new AnswerReader(true, 0);
    feed(fine, STREAM.replace("usage\\\"", "error\\\""), 10);

    assertThat(failed.error()).isTrue();
    assertThat(failed.outputTokens()).isEqualTo(3);
    assertThat(fine.error()).isFalse();
    assertThat(fine.complete()).isTrue();
  }

  private static void feed(AnswerReader answer, String text, int piece) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int at = 0; at < bytes.length; at += piece) {
      answer.onNext(List.of(ByteBuffer.wrap(bytes, at, Math.min(piece, bytes.length - at))));
    }
    answer.onComplete();
  }
}
