package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.CompiledModel;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.LatencyConfig;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.plugin.WaitingRequest;
import java.time.Duration;
import java.util.List;
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

  @Test
  void whatARequestDoesNotSayItsModelAsksFor() {
    CompiledModel chat =
        compiled(new LatencyConfig(Duration.ofMillis(800), Duration.ofMillis(40))).model("chat");
    RequestHeaders silent = RequestHeaders.NONE;
    assertThat(FlowHeaders.firstTokenBy(silent, 7, chat)).isEqualTo(800_000_007);
    assertThat(FlowHeaders.timePerOutputToken(silent, chat)).isEqualTo(40_000_000);
    assertThat(FlowHeaders.firstTokenBy(headers("x-slo-ttft-ms", "5"), 7, chat))
        .isEqualTo(5_000_007);
    assertThat(FlowHeaders.timePerOutputToken(headers("x-slo-tpot-ms", "5"), chat))
        .isEqualTo(5_000_000);

    CompiledModel other = compiled(LatencyConfig.UNSET).model("chat");
    assertThat(FlowHeaders.firstTokenBy(silent, 7, other)).isEqualTo(WaitingRequest.NEVER);
    assertThat(FlowHeaders.timePerOutputToken(silent, other)).isEqualTo(WaitingRequest.NEVER);
  }

  private static CompiledConfig compiled(LatencyConfig latency) {
    ModelConfig chat =
        new ModelConfig(
            "chat",
            Criticality.STANDARD,
            List.of(),
            TimeoutsConfig.UNSET,
            ModelQueueConfig.DEFAULT,
            latency);
    return new ConfigCompiler(List.of())
        .compile(Pool.config(new SchedulerConfig(List.of(), List.of(), null), chat));
  }
}
