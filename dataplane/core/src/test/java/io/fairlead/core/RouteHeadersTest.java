package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.core.Route.Header;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RouteHeadersTest {

  private final RouteHeaders headers = new RouteHeaders();

  @Test
  void theLastOfANameCounts() {
    headers.response("x-session-token", "one");
    headers.response("x-session-token", "two");
    assertThat(headers.response()).containsExactly(new Header("x-session-token", "two"));
    headers.clear();
    assertThat(headers.response()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Upper", "with space", "content-length", "transfer-encoding", "host"})
  void refusesNamesThatNoPluginMaySet(String name) {
    assertThatIllegalArgumentException().isThrownBy(() -> headers.request(name, "1"));
    assertThatIllegalArgumentException().isThrownBy(() -> headers.response(name, "1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a\r\nx-other: 1", "\u00e9", "tab\t"})
  void refusesValuesThatAreNotPrintable(String value) {
    assertThatIllegalArgumentException().isThrownBy(() -> headers.request("x-a", value));
  }
}
