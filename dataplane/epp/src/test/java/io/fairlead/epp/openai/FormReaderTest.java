package io.fairlead.epp.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fairlead.core.PromptSize;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FormReaderTest {

  private static final String PATH = "/v1/audio/transcriptions";
  private static final String TYPE = "multipart/form-data; boundary=\"xYz-1\"";

  private final RequestReader reader = new RequestReader();

  private static String part(String headers, String value) {
    return "--xYz-1\r\nContent-Disposition: form-data; " + headers + "\r\n\r\n" + value + "\r\n";
  }

  private static String form(String... parts) {
    return String.join("", parts) + "--xYz-1--\r\n";
  }

  private static String file(int length) {
    return part(
        "name=\"file\"; filename=\"a; name=model.wav\"\r\nContent-Type: audio/wav",
        "\r\n--xYz-\r\n\0".repeat(length).substring(0, length));
  }

  private ParsedRequest read(String body) throws BadRequestException {
    byte[] bytes = body.getBytes(UTF_8);
    return reader.read(RequestContent.of(PATH, TYPE, ""), BodyBytes.of(bytes));
  }

  private BadRequestException refused(String body) {
    return catchThrowableOfType(BadRequestException.class, () -> read(body));
  }

  @Test
  void findsTheModelBehindAFile() throws BadRequestException {
    String body =
        form(
            file(128_000),
            part("name=\"prompt\"", "names: Grüße"),
            part("name=model", "whisper-é"),
            part("name=\"stream\"", "true"));

    ParsedRequest request = read(body);

    assertThat(request.model()).isEqualTo("whisper-é");
    assertThat(request.streamed()).isTrue();
    assertThat(request.blocks()).isEmpty();
    assertThat(request.prompt())
        .isEqualTo(new PromptSize("names: Grüße".getBytes(UTF_8).length, 100));
  }

  /** Two letters in lower case. */
  @Test
  void findsAParameterBehindALetterThatBecomesLonger() throws BadRequestException {
    ParsedRequest request =
        read(form(part("x=\"\u0130\u0130\u0130\u0130\u0130\u0130\u0130\"; NAME=model", "m")));
    assertThat(request.model()).isEqualTo("m");
  }

  @Test
  void anotherModelIsSplicedInAsItIs() throws BadRequestException {
    String body = form(part("name=\"model\"", "chat"), file(50));
    byte[] bytes = ("##" + body).getBytes(UTF_8);
    ParsedRequest request =
        reader.read(RequestContent.of(PATH, TYPE, ""), BodyBytes.of(bytes, 2, bytes.length - 2));

    assertThat(
            ModelSplice.splice(BodyBytes.of(bytes, 2, bytes.length - 2), request, "a \"b\"")
                .toString(UTF_8))
        .isEqualTo(body.replace("\r\nchat\r\n", "\r\na \"b\"\r\n"));
  }

  @Test
  void aPreambleAndAnEpilogueAreNoParts() throws BadRequestException {
    String body =
        "before\r\n" + form(file(10), part("name=\"model\"", "m")) + "name=\"model\"\r\n\r\nn";
    assertThat(read(body).model()).isEqualTo("m");
  }

  @Test
  void aModelNeedNotBeNamed() throws BadRequestException {
    ParsedRequest request = read(form(file(10)));
    assertThat(request.model()).isEmpty();
    byte[] body = {1, 2};
    assertThat(ModelSplice.splice(BodyBytes.of(body), request, "other").array()).isEqualTo(body);
    assertThat(read("--xYz-1--").model()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "application/octet-stream",
    "text/plain",
    "''",
    "application/json",
  })
  void whatIsNoFormIsPassedOnUnread(String type) throws BadRequestException {
    byte[] bytes = {1, 2, 3};
    assertThat(reader.read(RequestContent.of(PATH, type, ""), BodyBytes.of(bytes, 0, 3)))
        .isSameAs(ParsedRequest.UNKNOWN);
    assertThat(reader.read(RequestContent.of(PATH, TYPE, "gzip"), BodyBytes.of(bytes, 0, 3)))
        .isSameAs(ParsedRequest.UNKNOWN);
  }

  @Test
  void unknownPathsTakeAnything() throws BadRequestException {
    byte[] bytes = "{\"model\":\"m\"".getBytes(UTF_8);
    RequestContent json = RequestContent.of("/new", "application/json", "");
    assertThat(reader.read(json, BodyBytes.of(bytes, 0, 5)))
        .as("broken JSON")
        .isSameAs(ParsedRequest.UNKNOWN);
    assertThat(reader.read(json, BodyBytes.of(bytes, 0, 0)))
        .as("no body")
        .isSameAs(ParsedRequest.UNKNOWN);
    assertThat(reader.read(RequestContent.of("/new", "audio/wav", ""), BodyBytes.of(bytes, 0, 5)))
        .isSameAs(ParsedRequest.UNKNOWN);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data;x=y"
      })
  void aFormNeedsABoundary(String type) {
    BadRequestException bad =
        catchThrowableOfType(BadRequestException.class, () -> RequestContent.of(PATH, type, ""));
    assertThat(bad.code()).isEqualTo(ErrorCodes.INVALID_FORM);
    assertThat(bad.getMessage()).contains("'boundary'");
  }

  @Test
  void refusesWhatItCantRead() {
    assertThat(refused("").code()).isEqualTo(ErrorCodes.INVALID_FORM);
    assertThat(refused("{\"model\":\"m\"}").code()).isEqualTo(ErrorCodes.INVALID_FORM);
    assertThat(refused(form(part("name=\"model\"", ""))).code())
        .isEqualTo(ErrorCodes.INVALID_MODEL);
    assertThat(refused(form(part("name=\"model\"", "m".repeat(513)))).code())
        .isEqualTo(ErrorCodes.INVALID_MODEL);
    assertThat(refused(form(part("name=\"model\"", "m"), part("name=\"model\"", "n"))).code())
        .isEqualTo(ErrorCodes.DUPLICATE_FIELD);
  }

  @Test
  void whatIsCutOffIsRefused() {
    String body = form(part("name=\"model\"", "m"), file(20));
    for (int length = 0; length < body.length() - 2; length++) {
      String cut = body.substring(0, length);
      if (!cut.endsWith("--xYz-1--")) {
        assertThat(refused(cut)).as("%d bytes", length).isNotNull();
      }
    }
  }

  @Test
  void neverThrowsAnythingElse() {
    byte[] body = form(part("name=\"model\"", "m"), file(100)).getBytes(UTF_8);
    for (long seed = 0; seed < 5_000; seed++) {
      Random random = new Random(seed);
      byte[] bytes = Arrays.copyOf(body, random.nextInt(body.length + 1));
      for (int i = random.nextInt(5); i > 0 && bytes.length > 0; i--) {
        bytes[random.nextInt(bytes.length)] = (byte) "\r\n-x;=\" :a".charAt(random.nextInt(10));
      }
      try {
        assertThat(read(new String(bytes, UTF_8)).model()).as("seed %d", seed).isNotNull();
      } catch (BadRequestException e) {
        assertThat(e.status()).as("seed %d", seed).isEqualTo(400);
      }
    }
  }
}
