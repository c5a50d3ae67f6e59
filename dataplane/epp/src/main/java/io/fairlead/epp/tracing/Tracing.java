package io.fairlead.epp.tracing;

import io.fairlead.core.RequestHeaders;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Makes spans and sends them to a collector, in batches on threads of its own: an event loop never
 * waits for it, and what a collector does not take in time is dropped. Safe to use from any thread.
 *
 * <p>OpenTelemetry's own environment variables count, but for what the settings say. Where neither
 * says otherwise, a request is traced if its caller traces it, and no trace begins here.
 */
public final class Tracing implements AutoCloseable {

  private static final String SCOPE = "io.fairlead";
  private static final long LAST_SECONDS = 5;

  private static final TextMapGetter<RequestHeaders> HEADERS =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(RequestHeaders headers) {
          return List.of(); // the propagator asks for headers by their names
        }

        @Override
        public @Nullable String get(@Nullable RequestHeaders headers, String name) {
          return headers == null ? null : headers.first(name);
        }
      };

  /** Stronger than the endpoint of all that is exported. */
  private static final String TRACES_ENDPOINT = "otel.exporter.otlp.traces.endpoint";

  /**
   * What is set for this process, before OpenTelemetry's environment variables.
   *
   * @param service name of the service, where {@code OTEL_SERVICE_NAME} says nothing
   * @param endpoint URL of the collector; null for what the environment says
   * @param ratio share of requests that are traced though their callers don't trace them, 0 to 1;
   *     null for what the environment says, or 0
   */
  public record Settings(String service, @Nullable String endpoint, @Nullable Double ratio) {

    public Settings {
      if (ratio != null && !(ratio >= 0 && ratio <= 1)) {
        throw new IllegalArgumentException("ratio is " + ratio + "; set 0 to 1");
      }
    }

    /** What counts unless the environment says otherwise. */
    Map<String, String> usual() {
      Map<String, String> usual = new TreeMap<>();
      usual.put("otel.service.name", service);
      usual.put("otel.traces.sampler", "parentbased_always_off");
      return usual;
    }

    /**
     * What counts whatever the environment says.
     *
     * @param said by the environment
     */
    Map<String, String> own(ConfigProperties said) {
      Map<String, String> own = new TreeMap<>();
      own.put("otel.metrics.exporter", "none");
      own.put("otel.logs.exporter", "none");
      if (endpoint != null) {
        own.put("otel.exporter.otlp.endpoint", endpoint);
        if (said.getString(TRACES_ENDPOINT) != null) {
          own.put(TRACES_ENDPOINT, overHttp(said) ? withPath(endpoint) : endpoint);
        }
      }
      if (ratio != null) {
        own.put("otel.traces.sampler", "parentbased_traceidratio");
        own.put("otel.traces.sampler.arg", ratio.toString());
      }
      return own;
    }

    /** A collector of spans alone is named with its path, which it gets else by itself. */
    private static String withPath(String endpoint) {
      return endpoint + (endpoint.endsWith("/") ? "v1/traces" : "/v1/traces");
    }

    private static boolean overHttp(ConfigProperties said) {
      String all = said.getString("otel.exporter.otlp.protocol", "grpc");
      return said.getString("otel.exporter.otlp.traces.protocol", all).startsWith("http");
    }
  }

  private final OpenTelemetrySdk sdk;
  private final Tracer tracer;

  private Tracing(OpenTelemetrySdk sdk) {
    this.sdk = sdk;
    tracer = sdk.getTracer(SCOPE);
  }

  /**
   * Begins. Connects when there is something to send.
   *
   * @throws IllegalArgumentException if a setting, or a variable, can't be used; the message names
   *     it
   */
  public static Tracing start(Settings settings) {
    try {
      return new Tracing(
          AutoConfiguredOpenTelemetrySdk.builder()
              .addPropertiesSupplier(settings::usual)
              .addPropertiesCustomizer(settings::own)
              .disableShutdownHook()
              .build()
              .getOpenTelemetrySdk());
    } catch (ConfigurationException e) {
      throw new IllegalArgumentException("tracing: " + e.getMessage(), e);
    }
  }

  /** Makes spans of other parts of the process. */
  public Tracer tracer() {
    return tracer;
  }

  /**
   * A request begins.
   *
   * @param frontend which took it
   * @param headers read for who traces it
   */
  public RequestTrace begin(String frontend, RequestHeaders headers) {
    Context caller =
        W3CTraceContextPropagator.getInstance().extract(Context.root(), headers, HEADERS);
    Span request =
        tracer
            .spanBuilder("gateway.request")
            .setParent(caller)
            .setSpanKind(SpanKind.SERVER)
            .setAttribute(RequestTrace.FRONTEND, frontend)
            .startSpan();
    boolean staleState =
        !Span.fromContext(caller).getSpanContext().isValid()
            && headers.first(RequestTrace.STATE) != null;
    return new RequestTrace(tracer, request, staleState);
  }

  /** Sends what is left, for some seconds at most. Blocks. */
  @Override
  public void close() {
    sdk.shutdown().join(LAST_SECONDS, TimeUnit.SECONDS);
  }
}
