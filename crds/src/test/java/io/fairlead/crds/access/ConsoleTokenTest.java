package io.fairlead.crds.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsoleTokenTest {

  @ParameterizedTest
  @ValueSource(ints = {16, 17, 4_096})
  void whiteSpaceAroundItIsNoneOfIt(int length) {
    String token = "t".repeat(length);
    assertThat(ConsoleToken.of(bytes("\n " + token + "\r\n"))).isEqualTo(bytes(token));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 15, 4_097})
  void aTextOfAnotherLengthIsNone(int length) {
    assertThat(ConsoleToken.of(bytes("t".repeat(length) + " ".repeat(20)))).isNull();
  }

  /** As what is signed and compared are bytes. */
  @ParameterizedTest
  @ValueSource(ints = {8, 2_048})
  void lengthsAreInBytes(int letters) {
    assertThat(ConsoleToken.of(bytes("ß".repeat(letters)))).hasSize(2 * letters);
    assertThat(ConsoleToken.of(bytes("ß".repeat(letters == 8 ? 7 : 2_049)))).isNull();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
