package io.fairlead.cli;

import io.fairlead.epp.tracing.Tracing;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Whether requests are traced, and where their spans go. */
final class TracingOptions {

  /** Variables of OpenTelemetry that say where spans go: whoever sets one wants them. */
  private static final String ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT";

  private static final String TRACES_ENDPOINT = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

  private static final String SERVICE = "fairlead";

  @Option(
      names = "--tracing",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      description =
          "Send spans of requests over OTLP. Without it they are sent where --tracing-endpoint or"
              + " OTEL_EXPORTER_OTLP_ENDPOINT says; OpenTelemetry's other variables count, too.")
  private @Nullable Boolean tracing;

  @Option(
      names = "--tracing-endpoint",
      paramLabel = "URL",
      description = "Collector of spans: gRPC, or HTTP with OTEL_EXPORTER_OTLP_PROTOCOL.")
  private String endpoint = "";

  @Option(
      names = "--tracing-ratio",
      paramLabel = "SHARE",
      description =
          "Share of requests, 0 to 1, that are traced though their callers don't trace them; 0"
              + " where OTEL_TRACES_SAMPLER says nothing either.")
  private @Nullable Double ratio;

  @Spec(Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  /**
   * What was asked for; null for no spans.
   *
   * @throws ParameterException if a value makes no sense
   */
  Tracing.@Nullable Settings settings(Map<String, String> environment) {
    if (ratio != null && !(ratio >= 0 && ratio <= 1)) {
      throw new ParameterException(
          spec.commandLine(), "--tracing-ratio is \"" + ratio + "\"; set 0 to 1");
    }
    return wanted(environment)
        ? new Tracing.Settings(SERVICE, endpoint.isEmpty() ? null : endpoint, ratio)
        : null;
  }

  private boolean wanted(Map<String, String> environment) {
    boolean off =
        environment.getOrDefault("OTEL_SDK_DISABLED", "").equalsIgnoreCase("true")
            || environment.getOrDefault("OTEL_TRACES_EXPORTER", "").equals("none");
    if (off) {
      return false;
    }
    return tracing != null
        ? tracing
        : !endpoint.isEmpty()
            || !environment.getOrDefault(ENDPOINT, "").isEmpty()
            || !environment.getOrDefault(TRACES_ENDPOINT, "").isEmpty();
  }
}
