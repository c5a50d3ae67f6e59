package io.fairlead.stub.server;

import static io.fairlead.stub.server.Stubs.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Embeddings and transcriptions, in vLLM's shapes. */
final class OtherTasksIT {

  private static final String EMBEDDINGS = "/v1/embeddings";
  private static final String TRANSCRIPTIONS = "/v1/audio/transcriptions";
  private static final Stubs STUBS = new Stubs(1);

  @AfterAll
  static void close() {
    STUBS.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"\"abcdefgh\" | 1 | 2", "[\"abcdefgh\",\"abcd\"] | 2 | 3", "[[1,2,3],[4]] | 2 | 4"})
  void everyInputGetsAVectorAndIsCountedOnce(String input, int vectors, int tokens)
      throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    JsonNode answer =
        json(
            STUBS
                .post(server, EMBEDDINGS, "{\"model\":\"m\",\"input\":%s}".formatted(input))
                .body());
    assertThat(answer.path("object").textValue()).isEqualTo("list");
    assertThat(answer.path("model").textValue()).isEqualTo("m");
    assertThat(answer.path("data")).hasSize(vectors);
    for (int i = 0; i < vectors; i++) {
      JsonNode one = answer.path("data").get(i);
      assertThat(one.path("index").intValue()).isEqualTo(i);
      assertThat(one.path("object").textValue()).isEqualTo("embedding");
      assertThat(one.path("embedding")).hasSize(8);
    }
    assertThat(answer.at("/usage/prompt_tokens").intValue()).isEqualTo(tokens);
    assertThat(answer.at("/usage/total_tokens").intValue()).isEqualTo(tokens);
    assertThat(answer.at("/usage/completion_tokens").intValue()).isZero();
    assertThat(server.stats().completed()).isEqualTo(1);
  }

  /** As the client of OpenAI asks for them. */
  @Test
  void vectorsComeInBase64WhereAskedFor() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    String body =
        "{\"model\":\"m\",\"input\":\"a\",\"encoding_format\":\"base64\",\"dimensions\":4}";
    String vector =
        json(STUBS.post(server, EMBEDDINGS, body).body()).at("/data/0/embedding").asText();
    ByteBuffer floats =
        ByteBuffer.wrap(Base64.getDecoder().decode(vector)).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(floats.remaining()).isEqualTo(16);
    assertThat(floats.getFloat()).isEqualTo(0.5f);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"model\":\"m\"} | 400 | input",
        "{\"model\":\"m\",\"input\":[]} | 400 | input",
        "{\"model\":\"m\",\"input\":\"a\",\"encoding_format\":\"hex\"} | 400 | encoding_format",
        "{\"model\":\"m\",\"input\":\"a\",\"dimensions\":0} | 400 | dimensions",
        "{\"model\":\"m\",\"input\":\"a\",\"dimensions\":99999999} | 400 | dimensions",
        "{\"model\":\"other\",\"input\":\"a\"} | 404 | model"
      })
  void whatCanNotBeEmbeddedIsRefused(String body, int status, String field) throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    HttpResponse<String> answer = STUBS.post(server, EMBEDDINGS, body);
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(json(answer.body()).at("/error/param").textValue()).isEqualTo(field);
  }

  @Test
  void aSoundIsWrittenDown() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant().defaultMaxTokens(3));
    HttpResponse<String> answer = post(server, form("m", "x".repeat(40_000), ""));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    JsonNode json = json(answer.body());
    assertThat(json.path("text").textValue()).isEqualTo("the sea ran");
    assertThat(json.at("/usage/type").textValue()).isEqualTo("duration");
    assertThat(json.at("/usage/seconds").intValue()).isEqualTo(2);
    assertThat(answer.headers().firstValue("x-stub-model")).contains("m");
    assertThat(server.stats().promptTokens()).isEqualTo(Prompt.MEDIA_TOKENS);
  }

  @ParameterizedTest
  @CsvSource({
    "other, sound, '', 404, model",
    "m, '', '', 400, file",
    "m, sound, stream=true, 400, stream",
    "m, sound, response_format=srt, 400, response_format"
  })
  void whatCanNotBeWrittenDownIsRefused(
      String model, String sound, String more, int status, String field) throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    HttpResponse<String> answer = post(server, form(model, sound, more));
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(json(answer.body()).at("/error/param").textValue()).isEqualTo(field);
  }

  @Test
  void whatIsNoFormIsRefused() throws Exception {
    ModelServer server = STUBS.start(Stubs.instant());
    assertThat(STUBS.post(server, TRANSCRIPTIONS, "{}").statusCode()).isEqualTo(400);
    HttpResponse<String> answer = post(server, "--b\r\nnonsense");
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(server.stats().failed()).isEqualTo(2);
  }

  private static String form(String model, String sound, String more) {
    StringBuilder form = new StringBuilder(field("model", model));
    if (!more.isEmpty()) {
      String[] field = more.split("=", -1);
      form.append(field(field[0], field[1]));
    }
    return form.append(
            "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n")
        .append("content-type: audio/wav\r\n\r\n")
        .append(sound)
        .append("\r\n--b--\r\n")
        .toString();
  }

  private static String field(String name, String value) {
    return "--b\r\ncontent-disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n"
        .formatted(name, value);
  }

  private static HttpResponse<String> post(ModelServer server, String form) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(
          HttpRequest.newBuilder(URI.create(server.url() + TRANSCRIPTIONS))
              .header("content-type", "multipart/form-data; boundary=b")
              .POST(BodyPublishers.ofString(form, StandardCharsets.ISO_8859_1))
              .build(),
          BodyHandlers.ofString());
    }
  }
}
