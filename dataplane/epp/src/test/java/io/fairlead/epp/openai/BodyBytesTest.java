package io.fairlead.epp.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** However a body is cut into arrays, it is the same body. */
class BodyBytesTest {

  private static final String CHAT = "/v1/chat/completions";
  private static final String FORM = "/v1/audio/transcriptions";

  private final RequestReader reader = new RequestReader();

  /** What a reader makes of a body, as text. */
  private String read(String path, BodyBytes body) {
    try {
      RequestContent content =
          path.equals(FORM)
              ? RequestContent.of(path, "multipart/form-data; boundary=b", "")
              : RequestContent.of(path, "application/json", "");
      ParsedRequest read = reader.read(content, body);
      return "%s %d %d %s %d %s %s %s %s"
          .formatted(
              read.model(),
              read.modelStart(),
              read.modelEnd(),
              read.json(),
              read.maxOutputTokens(),
              read.streamed(),
              read.prompt(),
              Arrays.toString(read.blocks()),
              ModelSplice.splice(body, read, "another \"model\"").toString(UTF_8).hashCode());
    } catch (BadRequestException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static BodyBytes cut(byte[] bytes, int... cuts) {
    BodyBytes body = new BodyBytes();
    int from = 0;
    for (int cut : cuts) {
      add(body, bytes, from, cut);
      from = cut;
    }
    add(body, bytes, from, bytes.length);
    assertThat(body.length()).isEqualTo(bytes.length);
    return body;
  }

  /** Each in an array of its own, somewhere in it. */
  private static void add(BodyBytes body, byte[] bytes, int from, int to) {
    byte[] part = new byte[to - from + 7];
    Arrays.fill(part, (byte) '"');
    System.arraycopy(bytes, from, part, 3, to - from);
    body.add(part, 3, to - from);
  }

  static Stream<String[]> bodies() {
    return Stream.of(
        chat("{'role':'user','content':'" + "Größe \\u00e9 \\\\ \uD83D\uDE00 ".repeat(12) + "'}"),
        chat(
            "{'role':'user','content':[{'type':'image_url','image_url':{'url':"
                + "'data:image/png;base64,AAAABBBBCCCCDDDD','detail':'low'}}, {'text':'x'}]}"),
        chat(
            "{'content':[{'type':'image','source':{'type':'base64','media_type':'audio\\/wav',"
                + "'data':'AAAABBBBCCCC'}},{'input_audio':{'data':'AAAA','format':'pcm16'}}]}"),
        chat("1,-2.50e+3,0,true,null , [ [ ] , { } ]"),
        chat("'broken \\x escape'"),
        chat("\"\uD83D\uDE00".substring(0, 2) + "\u0001'"),
        new String[] {CHAT, "{\"model\":\"m\",\"model\":1}"},
        new String[] {CHAT, "{\"mod\\u0065l\":\"a\\u0062\",\"messages\":[1]} x"},
        new String[] {"/v1/completions", "{\"model\":\"m\",\"prompt\":[1, 2,  3],\"stream\":true}"},
        new String[] {
          FORM,
          String.join(
              "\r\n",
              "--b",
              "content-disposition: form-data; name=\"file\"; filename=f",
              "",
              "\r",
              "--",
              "--b",
              "Content-Disposition: form-data; name=model",
              "",
              "whisper-é",
              "--b--",
              "")
        },
        new String[] {FORM, "--b\r\nno end"});
  }

  private static String[] chat(String messages) {
    String json =
        "{'x':'\\\"','model' : 'llama','max_tokens':12,'cache_salt':'salt','messages':["
            + messages
            + "],'stream':true}";
    return new String[] {CHAT, json.replace('\'', '"')};
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void isReadAlikeWhereverItIsCut(String path, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    String whole = read(path, BodyBytes.of(bytes));
    for (int first = 0; first <= bytes.length; first++) {
      assertThat(read(path, cut(bytes, first))).as("cut at %d", first).isEqualTo(whole);
      for (int second = first; second <= bytes.length; second += 1 + bytes.length / 30) {
        assertThat(read(path, cut(bytes, first, second)))
            .as("cut at %d and %d", first, second)
            .isEqualTo(whole);
      }
    }
    int[] everywhere = new int[bytes.length];
    Arrays.setAll(everywhere, i -> i);
    assertThat(read(path, cut(bytes, everywhere))).isEqualTo(whole);
  }

  @Test
  void isReadAlikeInRandomPartsWhateverItIs() {
    for (long seed = 0; seed < 3_000; seed++) {
      Random random = new Random(seed);
      List<String[]> all = bodies().toList();
      String[] one = all.get(random.nextInt(all.size()));
      byte[] bytes = one[1].replace("x", "x".repeat(random.nextInt(300))).getBytes(UTF_8);
      for (int i = random.nextInt(3); i > 0; i--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      int[] cuts = random.ints(random.nextInt(8), 0, bytes.length).sorted().toArray();
      assertThat(read(one[0], cut(bytes, cuts)))
          .as("seed %d", seed)
          .isEqualTo(read(one[0], BodyBytes.of(bytes)));
    }
  }

  @Test
  void isReadAlikeWhenItIsLong() {
    Random random = new Random(1);
    StringBuilder text = new StringBuilder(1 << 20);
    while (text.length() < 1 << 20) {
      text.append(random.nextInt(50) == 0 ? "é\\n" : (char) ('a' + random.nextInt(26)));
    }
    byte[] bytes =
        chat(
            "{'content':'%s'},{'content':[{'image_url':{'url':'data:image/png,%s'}}]}"
                .formatted(text, text))[1]
            .getBytes(UTF_8);
    String whole = read(CHAT, BodyBytes.of(bytes));
    for (int i = 0; i < 10; i++) {
      int[] cuts = random.ints(random.nextInt(200), 0, bytes.length).sorted().toArray();
      assertThat(read(CHAT, cut(bytes, cuts))).isEqualTo(whole);
    }
  }

  @Test
  void joinsWhatIsSideBySide() {
    byte[] bytes = "abcdef".getBytes(UTF_8);
    BodyBytes body = new BodyBytes();
    body.add(bytes, 1, 2);
    body.add(bytes, 3, 1);
    body.add(bytes, 0, 0);
    body.add(bytes, 3, 1);
    assertThat(body.parts()).isEqualTo(2);
    assertThat(body.text(0, 4, UTF_8)).isEqualTo("bcdd");
    assertThat(body.slice(1, 4).toString(UTF_8)).isEqualTo("cdd");
    assertThat(body.same("cd", 1, 3)).isTrue();
    assertThat(body.same("cd", 0, 2)).isFalse();
    List<String> shown = new ArrayList<>();
    body.show(1, 4, (array, from, to) -> shown.add(new String(array, from, to - from, UTF_8)));
    assertThat(shown).containsExactly("cd", "d");
  }
}
