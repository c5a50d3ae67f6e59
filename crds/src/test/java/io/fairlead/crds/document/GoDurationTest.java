package io.fairlead.crds.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.GoDuration;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class GoDurationTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "-0, 0",
    "1ns, 1",
    "1.9ns, 1",
    "2us, 2000",
    "2µs, 2000",
    "2μs, 2000",
    "1.5ms, 1500000",
    ".5s, 500000000",
    "1.s, 1000000000",
    "+1m30s, 90000000000",
    "-1h2m3s, -3723000000000",
    "1s1h, 3601000000000",
    "9223372036854775807ns, 9223372036854775807"
  })
  void readsWhatGoReads(String text, long nanos) {
    assertThat(GoDuration.parse(text)).isEqualTo(Duration.ofNanos(nanos));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "1",
        "s",
        "-",
        "1d",
        "1 s",
        " 1s",
        "1s ",
        "1,5s",
        "..5s",
        ".s",
        "1e3s",
        "1S",
        "--1s",
        "9223372036854775808ns",
        "2562048h",
        "99999999999999999999999999h"
      })
  void refusesWhatGoRefuses(String text) {
    assertThat(GoDuration.parse(text)).isNull();
  }

  @ParameterizedTest
  @CsvSource({"0, 0s", "60000000000, 60s", "1500000000, 1500ms", "1500000001, 1500000001ns"})
  void writesWhatItReads(long nanos, String text) {
    assertThat(GoDuration.format(Duration.ofNanos(nanos))).isEqualTo(text);
    assertThat(GoDuration.parse(text)).isEqualTo(Duration.ofNanos(nanos));
  }
}
