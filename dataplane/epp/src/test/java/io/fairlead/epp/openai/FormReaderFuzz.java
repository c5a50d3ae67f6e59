package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Any form is read or refused, and a model that was found stands where it is said to stand. */
class FormReaderFuzz {

  private static final RequestContent CONTENT =
      new RequestContent(RequestContent.Kind.FORM, "/v1/audio/transcriptions", "b");

  @FuzzTest
  void isReadOrRefused(byte[] body) {
    ParsedRequest read;
    try {
      read = new RequestReader(1).read(CONTENT, BodyBytes.of(body));
    } catch (BadRequestException e) {
      assertThat(e.status()).isEqualTo(400);
      return;
    }
    if (!read.model().isEmpty()) {
      assertThat(Arrays.copyOfRange(body, read.modelStart(), read.modelEnd()))
          .isEqualTo(read.model().getBytes(StandardCharsets.UTF_8));
    }
  }
}
