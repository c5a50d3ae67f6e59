package io.fairlead.epp.director;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Timeouts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TimeoutHeadersTest {

  private final List<String> ignored = new ArrayList<>();

  private Timeouts read(boolean trusted, Map<String, String> headers) {
    return TimeoutHeaders.read(new Headers(headers, Set.of()), trusted, ignored::add);
  }

  /** The first value of each, and the names of those that are there again with another. */
  private record Headers(Map<String, String> all, Set<String> contradicted)
      implements ReceivedHeaders {

    @Override
    public @Nullable String first(String name) {
      return all.get(name);
    }

    @Override
    public boolean contradicts(String name) {
      return contradicted.contains(name);
    }
  }

  @Test
  void readsDurations() {
    assertThat(
            read(
                true,
                Map.of(
                    "x-fairlead-timeout-first-byte", "1m30s",
                    "x-fairlead-timeout-silence", "500ms",
                    "x-fairlead-timeout-total", "1h")))
        .isEqualTo(
            new Timeouts(Duration.ofSeconds(90), Duration.ofMillis(500), Duration.ofHours(1)));
    assertThat(ignored).isEmpty();
  }

  @Test
  void whatIsNoDurationAboveZeroSaysNothingAndIsTold() {
    assertThat(
            read(
                true,
                Map.of(
                    "x-fairlead-timeout-first-byte", "soon",
                    "x-fairlead-timeout-silence", "-1s",
                    "x-fairlead-timeout-total", "0")))
        .isEqualTo(Timeouts.UNSET);
    assertThat(ignored).containsExactly("invalid", "invalid", "invalid");
  }

  /** The first is the client's, where a gateway adds its own without removing that. */
  @Test
  void aHeaderThatSaysTwoThingsSaysNothingAndIsTold() {
    Map<String, String> first =
        Map.of("x-fairlead-timeout-total", "1h", "x-fairlead-timeout-silence", "5s");
    assertThat(
            TimeoutHeaders.read(
                new Headers(first, Set.of("x-fairlead-timeout-total")), true, ignored::add))
        .isEqualTo(new Timeouts(null, Duration.ofSeconds(5), null));
    assertThat(ignored).containsExactly("invalid");
  }

  @Test
  void aStrangersHeadersSayNothingAndAreTold() {
    assertThat(read(false, Map.of("x-fairlead-timeout-total", "1h"))).isEqualTo(Timeouts.UNSET);
    assertThat(ignored).containsExactly("untrusted");
    assertThat(read(false, Map.of())).isEqualTo(Timeouts.UNSET);
    assertThat(ignored).containsExactly("untrusted");
  }
}
