package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PerceptionTest {

  @Test
  void isReadByNameBySettingsOrBoth() {
    assertThat(Perception.parse("ideal")).isEqualTo(Perception.IDEAL);
    assertThat(Perception.parse("real")).isEqualTo(Perception.REAL);
    assertThat(Perception.parse("jitter-ms=2,usage=0.5"))
        .isEqualTo(new Perception(0, 0.5, true, 0, 2, 0, 0));
    assertThat(
            Perception.parse(
                "real,token-error=0.1,usage=0.2,cached-tokens=true,metrics-ms=3,jitter-ms=4,"
                    + "unstreamed=0.5,images=0.6"))
        .isEqualTo(new Perception(0.1, 0.2, true, 3, 4, 0.5, 0.6));
  }

  @ParameterizedTest
  @ValueSource(strings = {"ideal", "real", "real,usage=1", "images=0.25"})
  void tellsWhatItIsInTheFormThatItIsReadIn(String text) {
    assertThat(Perception.parse(Perception.parse(text).toString()))
        .isEqualTo(Perception.parse(text));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''             | perception: \"\" is neither ideal, real nor one of token-error, usage, c",
        "rael           | perception: \"rael\" is neither ideal, real nor one of",
        "usage=1,real   | perception: \"real\" is neither ideal, real nor one of",
        "usage=half     | perception: usage is \"half\", which is no number",
        "usage=1.1      | perception: usage is 1.1; set 0.0 to 1.0",
        "usage=NaN      | perception: usage is NaN; set 0.0 to 1.0",
        "token-error=1  | perception: token-error is 1.0; set 0.0 to 0.9",
        "cached-tokens=1 | perception: cached-tokens is \"1\"; set true or false",
        "usage=1,usage=1 | perception: usage is there twice"
      })
  void whatIsNoneIsRefusedByName(String text, String message) {
    assertThatThrownBy(() -> Perception.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(message);
  }
}
