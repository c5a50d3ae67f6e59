package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.plugin.WaitingRequest;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FlowHeadersTest {

  private static RequestHeaders headers(String... pairs) {
    return pairs.length == 2
        ? Map.of(pairs[0], pairs[1])::get
        : Map.of(pairs[0], pairs[1], pairs[2], pairs[3])::get;
  }

  @Test
  void aRequestNamesItsFlow() {
    assertThat(FlowHeaders.flow(RequestHeaders.NONE, "m")).isEqualTo("m");
    assertThat(FlowHeaders.flow(headers("x-gateway-inference-fairness-id", "red"), "m"))
        .isEqualTo("red");
    assertThat(
            FlowHeaders.flow(
                headers(
                    "x-gateway-inference-fairness-id",
                    "red",
                    "x-llm-d-inference-fairness-id",
                    "blue"),
                "m"))
        .isEqualTo("blue");
    for (String none : new String[] {"", "x".repeat(257), "x".repeat(1_000_000)}) {
      assertThat(FlowHeaders.flow(headers("x-gateway-inference-fairness-id", none), "m"))
          .isEqualTo("m");
    }
  }

  @ParameterizedTest
  @CsvSource({"250ms,250000000", "1m30s,90000000000", "' 2s ',2000000000"})
  void aRequestSaysHowLongItWaits(String ttl, long nanos) {
    assertThat(FlowHeaders.ttl(headers("x-fairlead-queue-ttl", ttl))).isEqualTo(nanos);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "5", "0s", "-1s", "soon", "8761h", "1000000000000000000000000000000000s"})
  void whatMakesNoSenseSaysNothing(String ttl) {
    assertThat(FlowHeaders.isDuration(ttl)).isFalse();
    assertThat(FlowHeaders.ttl(headers("x-fairlead-queue-ttl", ttl)))
        .isEqualTo(WaitingRequest.NEVER);
  }

  @ParameterizedTest
  @CsvSource({"250,250000007", "0.5,500007", "1e3,1000000007"})
  void aRequestSaysWhenItsFirstTokenIsWanted(String millis, long nanos) {
    assertThat(FlowHeaders.firstTokenBy(headers("x-slo-ttft-ms", millis), 7)).isEqualTo(nanos);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "-1", "NaN", "Infinity", "1e300", "soon", "1s"})
  void aLatencyThatIsNoneSaysNothing(String millis) {
    assertThat(FlowHeaders.isMillis(millis)).isFalse();
    assertThat(FlowHeaders.firstTokenBy(headers("x-llm-d-slo-ttft-ms", millis), 7))
        .isEqualTo(WaitingRequest.NEVER);
  }
}
