package io.fairlead.epp.director;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Timeouts;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TimeoutHeadersTest {

  @Test
  void readsDurations() {
    Map<String, String> headers =
        Map.of(
            "x-fairlead-timeout-first-byte", "1m30s",
            "x-fairlead-timeout-silence", "500ms",
            "x-fairlead-timeout-total", "1h");
    assertThat(TimeoutHeaders.read(headers::get))
        .isEqualTo(
            new Timeouts(Duration.ofSeconds(90), Duration.ofMillis(500), Duration.ofHours(1)));
  }

  @Test
  void whatIsNoDurationSaysNothing() {
    Map<String, String> headers =
        Map.of(
            "x-fairlead-timeout-first-byte", "soon",
            "x-fairlead-timeout-silence", "-1s",
            "x-fairlead-timeout-total", "0");
    assertThat(TimeoutHeaders.read(headers::get)).isEqualTo(Timeouts.UNSET);
    assertThat(TimeoutHeaders.read(name -> null)).isEqualTo(Timeouts.UNSET);
  }
}
