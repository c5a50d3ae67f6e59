package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.core.Rejection;
import io.fairlead.crds.config.Criticality;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OpenAiErrorTest {

  private static final ObjectMapper JACKSON = new ObjectMapper();

  @Test
  void rejectionKeepsStatusReasonAndRetryAfter() throws IOException {
    OpenAiError error =
        OpenAiError.of(
            new Rejection(
                Rejection.Reason.SATURATED, Criticality.SHEDDABLE, "full \"now\"\n\ud83d\ude00"));

    assertThat(error.status()).isEqualTo(429);
    assertThat(error.retryAfterSeconds()).isEqualTo(1);
    assertThat(JACKSON.readTree(error.body()))
        .isEqualTo(
            JACKSON.readTree(
                "{\"error\":{\"message\":\"full \\\"now\\\"\\n"
                    + "\ud83d\ude00\",\"type\":\"rate_limit_error\",\"param\":null,\"code\":\"saturated\"}}"));
  }

  @ParameterizedTest
  @CsvSource({
    "400,invalid_request_error",
    "404,not_found_error",
    "413,request_too_large",
    "429,rate_limit_error",
    "500,api_error",
    "503,overloaded_error",
    "504,timeout_error",
  })
  void clientsOfTheMessagesApiGetTheirOwnShape(int status, String type) throws IOException {
    OpenAiError error = new OpenAiError(status, "t", "c", "no \"room\"", -1);
    for (String path :
        List.of("/v1/messages", "/v1/messages?beta=true", "/v1/messages/count_tokens")) {
      assertThat(JACKSON.readTree(error.body(path)))
          .isEqualTo(
              JACKSON.readTree(
                  "{\"type\":\"error\",\"error\":{\"type\":\""
                      + type
                      + "\",\"message\":\"no \\\"room\\\"\"}}"));
    }
    assertThat(error.body("/v1/chat/completions")).isEqualTo(error.body());
  }

  @Test
  void badRequestNamesItsCode() {
    OpenAiError error = OpenAiError.of(new BadRequestException(413, "body_too_large", "too long"));

    assertThat(error)
        .isEqualTo(new OpenAiError(413, "invalid_request_error", "body_too_large", "too long", -1));
  }

  @Test
  void spliceChangesTheNameOnly() throws BadRequestException {
    String json = "{\"seed\":9007199254740993,\"model\" : \"a\\u0062\",\"prompt\":\"<\u00e9>\"}";
    byte[] body = ("##" + json + "##").getBytes(StandardCharsets.UTF_8);
    BodyBytes bytes = BodyBytes.of(body, 2, body.length - 4);
    ParsedRequest request = new RequestReader().read("/v1/completions", bytes);

    assertThat(ModelSplice.splice(bytes, request, "ab").toString(StandardCharsets.UTF_8))
        .isEqualTo(json);
    assertThat(ModelSplice.splice(bytes, request, "ta\"rget").toString(StandardCharsets.UTF_8))
        .isEqualTo(json.replace("a\\u0062", "ta\\\"rget"));
  }
}
