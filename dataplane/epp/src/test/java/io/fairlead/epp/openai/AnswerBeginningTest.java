package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerBeginningTest {

  private static final String EVENTS = "text/event-stream; charset=utf-8";

  /** Where it begins, to the byte, is marked; how it is cut makes no difference. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "data: |{\"choices\":[]}\n\n",
        "data:|[DONE]\n\n",
        ": ping\n\n: pong\r\n\r\ndata: |{}\n\n",
        ":\n\nevent: ping\n\nid: 7\nretry: 10\n\ndata:\n\ndata\n\ndata: |x\n\n",
        "event: ping\r\ndata: {\"type\":\"ping\"}\r\n\r\nevent: message_delta\r\ndata: |{}\r\n\r\n",
        "event: ping\rdata: {}\r\rdata: |{}\r\r",
        "event:message_start\ndata: {}\n\nevent: content_block_start\ndata: {}\n\ndata: |{}\n\n",
        "event: response.created\ndata: {}\n\nevent: response.queued\ndata: {}\n\ndata: |1",
        "event: response.in_progress\ndata: {}\n\nevent: response.output_item.added\ndata: |{}\n\n",
        "event: error\ndata: |{}\n\n",
        "\u00ef\u00bb\u00bf: ping\n\ndata: |{}\n\n",
        "{\"no\"|:\"events\"}",
        "hello|, I am no stream of events",
        "a|: field that no event has\n\n",
      })
  void aStreamBeginsWithWhatWasAskedFor(String marked) {
    String text = marked.replace("|", "");
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    AnswerBeginning whole = new AnswerBeginning(EVENTS, "");
    assertThat(whole.in(Unpooled.wrappedBuffer(bytes))).isTrue();

    AnswerBeginning byByte = new AnswerBeginning(EVENTS, "");
    int seen = 0;
    while (!byByte.in(Unpooled.wrappedBuffer(bytes, seen, 1))) {
      seen++;
    }
    assertThat(text.substring(0, seen)).isEqualTo(marked.substring(0, marked.indexOf('|')));
    assertThat(byByte.in(Unpooled.EMPTY_BUFFER)).as("it stays so").isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "application/json,,{,true",
        "application/json,,' \n\r\t',false",
        "application/problem+json,,' \n{',true",
        "application/json,gzip,' ',true",
        "text/event-stream,br,': p',true",
        "text/event-stream,identity,': p',false",
        "application/json,Identity,' ',false",
        "TEXT/Event-Stream,,': p',false",
        "text/plain,,' ',true",
        ",,:,true",
        ",,'',false",
        "application/json,,'',false",
      })
  void whatIsOfAnotherKindBeginsWithItsFirstByte(
      String type, String encoding, String body, boolean begun) {
    AnswerBeginning beginning =
        new AnswerBeginning(type == null ? "" : type, encoding == null ? "" : encoding);
    assertThat(beginning.in(Unpooled.copiedBuffer(body, StandardCharsets.UTF_8))).isEqualTo(begun);
  }
}
