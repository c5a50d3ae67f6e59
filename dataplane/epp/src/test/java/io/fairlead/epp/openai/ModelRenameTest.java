package io.fairlead.epp.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ModelRenameTest {

  private static final String JSON = "application/json";
  private static final String EVENTS = "text/event-stream; charset=utf-8";

  /** A target's name with all that may be escaped in it. */
  private static final String TARGET = "llama/v2-\"é\\😀";

  private static final String ASKED = "chat \"é";

  /** {@code @} is the target's name where it is to be replaced, {@code #} where it is to stay. */
  static Stream<Arguments> answers() {
    return Stream.of(
            new String[] {JSON, "{\"model\":@}"},
            new String[] {JSON, " {\n\"id\":\"1\" , \"model\" :\t@ ,\"usage\":{\"model\":#}}\r\n"},
            new String[] {
              JSON, "{\"choices\":[{\"model\":#,\"text\":\"\\\"model\\\":\\\"a\"}],\"model\":@}"
            },
            new String[] {JSON, "{\"model\":@,\"model\":@,\"a\":-1.5e3,\"model\":@}"},
            new String[] {JSON, "{\"x\":#,\"models\":#,\"mode\":#,\"model\":null,\"model\":[#]}"},
            new String[] {JSON, "{\"response\":{\"model\":#},\"message\":{\"model\":#}}"},
            new String[] {JSON, "{\"a\":{\"b\":[{},\"}]\\\\\"]},\"model\":@,\"t\":true}"},
            new String[] {JSON, "{\"model\":\"llama/v2\"}"},
            new String[] {JSON, "{\"model\":\"llama/v2-\\\"é\\\\😀 \"}"},
            new String[] {JSON, "{\"model\":\"llama/v2-\\u0022é"},
            new String[] {JSON, "{\"model\":\"llama/v2"},
            new String[] {JSON, "[{\"model\":#}]"},
            new String[] {JSON, "{\"model\":@} {\"model\":#}"},
            new String[] {JSON, "no {\"model\":#}"},
            new String[] {JSON, ""},
            new String[] {
              EVENTS,
              String.join(
                  "\n\n",
                  ": {\"model\":#}",
                  "data: {\"model\":@,\"choices\":[]}",
                  "data:{\"model\":@}\r\n\r\nevent: x\rdata: {\"a\":1,\rdata: \"model\":@}\r\rdata: [DONE]",
                  "")
            },
            new String[] {
              EVENTS,
              String.join(
                  "\n\n",
                  "data: {\"type\":\"response.created\",\"response\":{\"id\":1,\"model\":@}}",
                  "data: {\"message\":{\"content\":[{\"model\":#}],\"model\":@},\"model\":@}",
                  "data: {\"delta\":{\"model\":#},\"response\":{\"response\":{\"model\":#}}}",
                  "")
            },
            new String[] {
              EVENTS, "data: {\"model\":\"llama\ndata: /v2\"}\n\ndata: {\"model\":@}\n\n"
            },
            new String[] {EVENTS, "data: {\"model\":#\n\n".replace("#", "\"llama/")})
        .flatMap(
            answer ->
                Stream.of(
                        "\"llama/v2-\\\"é\\\\😀\"",
                        "\"llama\\/v2-\\\"\\u00E9\\\\\\ud83d\\uDE00\"",
                        "\"\\u006clama/v2-\\u0022é\\u005c😀\"")
                    .map(name -> Arguments.of(answer[0], answer[1], name)));
  }

  private static final String IN_JSON = "\"chat \\\"é\"";

  @ParameterizedTest
  @MethodSource("answers")
  void namesWhatWasAskedForWhereverTheBodyIsCut(String type, String answer, String name) {
    byte[] body = answer.replace("@", name).replace("#", name).getBytes(UTF_8);
    String expected = answer.replace("@", IN_JSON).replace("#", name);
    for (int first = 0; first <= body.length; first++) {
      assertThat(renamed(type, body, first)).as("cut at %d", first).isEqualTo(expected);
      for (int second = first; second <= body.length; second += 1 + body.length / 40) {
        assertThat(renamed(type, body, first, second))
            .as("cut at %d and %d", first, second)
            .isEqualTo(expected);
      }
    }
    int[] everywhere = new int[body.length];
    Arrays.setAll(everywhere, i -> i);
    assertThat(renamed(type, body, everywhere)).isEqualTo(expected);
  }

  private static String renamed(String type, byte[] body, int... cuts) {
    ModelRename rename = ModelRename.of(TARGET, ASKED, type);
    assertThat(rename).isNotNull();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int from = 0;
    for (int cut : cuts) {
      pass(rename, body, from, cut, false, out);
      from = cut;
    }
    pass(rename, body, from, body.length, true, out);
    return out.toString(UTF_8);
  }

  private static void pass(
      ModelRename rename, byte[] body, int from, int to, boolean last, ByteArrayOutputStream out) {
    ByteBuf piece = Unpooled.copiedBuffer(body, from, to - from);
    ByteBuf passed = rename.pass(piece, last);
    byte[] bytes = new byte[passed.readableBytes()];
    passed.readBytes(bytes);
    out.writeBytes(bytes);
    passed.release();
    assertThat(piece.refCnt()).isEqualTo(from == to ? 1 : 0); // what is empty is shared
  }

  @Test
  void holdsBackNoMoreThanMayBeTheName() {
    ModelRename rename = ModelRename.of("llama", "chat", JSON);
    assertThat(rename).isNotNull();
    assertThat(text(rename, "{\"model\" :\"lla")).isEqualTo("{\"model\" :");
    assertThat(text(rename, "ps\",\"x\":\"y")).isEqualTo("\"llaps\",\"x\":\"y");
  }

  @Test
  void leavesAPieceAloneThatStaysAsItIs() {
    ModelRename rename = ModelRename.of("llama", "chat", EVENTS);
    assertThat(rename).isNotNull();
    ByteBuf piece = Unpooled.copiedBuffer("data: {\"choices\":[]}\n\n", UTF_8);
    assertThat(rename.pass(piece, false)).isSameAs(piece);
    assertThat(rename.changed()).isFalse();
    piece.release();
  }

  private static String text(ModelRename rename, String piece) {
    ByteBuf passed = rename.pass(Unpooled.copiedBuffer(piece, UTF_8), false);
    try {
      return passed.toString(UTF_8);
    } finally {
      passed.release();
    }
  }

  @Test
  void isNotThereWhereThereIsNothingToDo() {
    assertThat(ModelRename.of("a", "a", JSON)).isNull();
    assertThat(ModelRename.of("", "a", JSON)).isNull();
    assertThat(ModelRename.of("a", "", JSON)).isNull();
    assertThat(ModelRename.of("a", "b", "text/plain")).isNull();
  }

  @Test
  void whateverTheBytesAreOneCutMakesNoDifference() {
    String alphabet = "{}[]\":,\\u \n\rdata:model@@%%";
    for (long seed = 0; seed < 20_000; seed++) {
      Random random = new Random(seed);
      StringBuilder text = new StringBuilder(random.nextBoolean() ? "data: {\"model\":@," : "{");
      for (int i = random.nextInt(40); i > 0; i--) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      byte[] body =
          text.toString()
              .replace("%", "\n\ndata: {\"model\":@,")
              .replace("@", "\"llama/v2-\\\"é\\\\😀\"")
              .getBytes(UTF_8);
      String type = random.nextBoolean() ? JSON : EVENTS;
      String whole = renamed(type, body);
      assertThat(renamed(type, body, random.nextInt(body.length + 1)))
          .as("seed %d", seed)
          .isEqualTo(whole);
      int[] everywhere = new int[body.length];
      Arrays.setAll(everywhere, i -> i);
      assertThat(renamed(type, body, everywhere))
          .as("seed %d, byte by byte", seed)
          .isEqualTo(whole);
    }
  }
}
