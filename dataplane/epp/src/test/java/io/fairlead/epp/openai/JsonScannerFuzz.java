package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Holds the scanner against Jackson: same bodies refused, same strings read. */
class JsonScannerFuzz {

  private static final ObjectMapper JACKSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(JsonScanner.MAX_DEPTH)
                      .maxNumberLength(Integer.MAX_VALUE)
                      .build())
              .build());

  private static final List<String> SEEDS =
      List.of(
          "{\"model\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"h\\u00e9llo"
              + " \\\"w\\\"\"}]}",
          "{\"model\":\"\\ud83d\\ude00\",\"stream\":true,\"max_tokens\":12,\"x\":[1,-2.5e+3,null,{}]}",
          " {\n\"mod\\u0065l\" : \"caf\u00e9 \ud83d\ude00\" , \"prompt\" : [ 1 , 2 ] }\r\n",
          "{\"model\":\"m\",\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":"
              + "\"data:image/png;base64,AAAA\",\"detail\":\"low\"}},{\"input_audio\":{\"data\":\"AA\"}}]}]}",
          "{\"model\":\"m\",\"input\":[{\"source\":{\"type\":\"base64\",\"data\":\"AA\"},\"type\":\"image\"},"
              + "{\"file_id\":\"f\",\"type\":\"input_file\"}]}",
          "{\"seed\":9007199254740993,\"model\":\"m\",\"input\":\"\",\"a\":[[],[{}],{\"b\":false}]}");

  @FuzzTest
  void agreesWithJackson(byte[] body) {
    check(body);
  }

  @Test
  void agreesWithJacksonOnBrokenBodies() {
    for (long seed = 0; seed < 40_000; seed++) {
      Random random = new Random(seed);
      byte[] body =
          SEEDS.get(random.nextInt(SEEDS.size())).getBytes(StandardCharsets.UTF_8).clone();
      for (int i = random.nextInt(4); i > 0; i--) {
        int at = random.nextInt(body.length);
        switch (random.nextInt(4)) {
          case 0 -> body[at] = (byte) random.nextInt(256);
          case 1 -> body[at] = body[random.nextInt(body.length)];
          case 2 -> body = Arrays.copyOf(body, Math.max(1, at));
          default -> body[at] = (byte) "{}[]\",:\\0 e.-tu".charAt(random.nextInt(15));
        }
      }
      check(body);
    }
  }

  /** On a path that may do without a model and without a prompt, and whose bodies must be JSON. */
  private static void check(byte[] body) {
    String shown = Arrays.toString(body);
    JsonNode expected = jackson(body);
    @Nullable ParsedRequest read = null;
    @Nullable String code = null;
    try {
      read = new RequestReader(16).read("/classify", BodyBytes.of(body));
    } catch (BadRequestException e) {
      code = e.code();
    }
    if (expected == null) {
      assertThat(code).as(shown).isIn(ErrorCodes.INVALID_JSON, ErrorCodes.DUPLICATE_FIELD);
    } else if (read == null) {
      assertThat(code).as(shown).isIn(ErrorCodes.INVALID_MODEL, ErrorCodes.DUPLICATE_FIELD);
    } else {
      assertThat(read.model()).as(shown).isEqualTo(expected.path("model").asText(""));
    }
  }

  private static @Nullable JsonNode jackson(byte[] body) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
      try (var parser = JACKSON.createParser(text)) {
        JsonNode node = JACKSON.readTree(parser);
        return node != null && node.isObject() && parser.nextToken() == null ? node : null;
      }
    } catch (IOException e) {
      return null;
    }
  }
}
