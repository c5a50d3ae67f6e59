package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonMediaTypeTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json",
        "Application/JSON",
        " application/json ; charset=UTF-8",
        "application/json;charset=\"utf-8\"",
        "application/json; profile=x; charset=utf-8",
        "application/json; profile=\"x,y\"",
        "application/json,application/json; charset=utf-8"
      })
  void passesJsonInUtf8(String type) {
    assertThatCode(() -> JsonMediaType.require(type, "")).doesNotThrowAnyException();
    assertThatCode(() -> JsonMediaType.require(type, "identity")).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource({
    "'','',content-type",
    "text/plain,'',content-type",
    "application/jsonl,'',content-type",
    "'application/json, text/plain','',content-type",
    "'application/json,','',content-type",
    "application/json; charset=utf-16,'',content-type",
    "application/json; charset=utf-8; charset=latin1,'',content-type",
    "application/json,gzip,content-encoding",
    "application/json,'identity, br',content-encoding",
  })
  void namesTheHeaderThatIsWrong(String type, String encoding, String header) {
    assertThatThrownBy(() -> JsonMediaType.require(type, encoding))
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining("'" + header + "'")
        .extracting(e -> ((BadRequestException) e).status())
        .isEqualTo(415);
  }
}
