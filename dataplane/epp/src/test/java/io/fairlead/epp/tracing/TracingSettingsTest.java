package io.fairlead.epp.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.sdk.autoconfigure.spi.internal.DefaultConfigProperties;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a flag says counts more than what the environment says. */
class TracingSettingsTest {

  @ParameterizedTest
  @CsvSource({
    "grpc, , http://ours:4317",
    ", , http://ours:4317",
    "http/protobuf, , http://ours:4317/v1/traces",
    "grpc, http/protobuf, http://ours:4317/v1/traces",
    "http/protobuf, grpc, http://ours:4317",
  })
  void anEndpointForSpansInTheEnvironmentIsOverruled(
      @Nullable String all, @Nullable String spans, String expected) {
    Map<String, String> environment =
        new HashMap<>(Map.of("otel.exporter.otlp.traces.endpoint", "http://theirs:4317"));
    if (all != null) {
      environment.put("otel.exporter.otlp.protocol", all);
    }
    if (spans != null) {
      environment.put("otel.exporter.otlp.traces.protocol", spans);
    }
    assertThat(
            new Tracing.Settings("s", "http://ours:4317", null)
                .own(DefaultConfigProperties.createFromMap(environment)))
        .containsEntry("otel.exporter.otlp.endpoint", "http://ours:4317")
        .containsEntry("otel.exporter.otlp.traces.endpoint", expected);
  }
}
