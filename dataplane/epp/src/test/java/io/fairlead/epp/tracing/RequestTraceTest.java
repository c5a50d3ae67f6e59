package io.fairlead.epp.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.Criticality;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class RequestTraceTest {

  private static final RequestFacts FACTS =
      new RequestFacts("chat", 1, new long[] {}, 100, -1, 400);

  /** The second bit says that the trace's id is random. */
  private static final String SAMPLED = "-0[13]";

  private static final String NOT_SAMPLED = "-0[02]";

  private final List<SpanData> ended = new ArrayList<>();

  private RequestTrace begin(Sampler sampler, boolean staleState) {
    SpanExporter exporter =
        new SpanExporter() {
          @Override
          public CompletableResultCode export(Collection<SpanData> spans) {
            ended.addAll(spans);
            return CompletableResultCode.ofSuccess();
          }

          @Override
          public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
          }

          @Override
          public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
          }
        };
    Tracer tracer =
        SdkTracerProvider.builder()
            .setSampler(sampler)
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build()
            .get("test");
    Span request = tracer.spanBuilder("gateway.request").setNoParent().startSpan();
    return new RequestTrace(tracer, request, staleState);
  }

  private static Route to(String endpoint, int attempt) {
    return new Route("llama", Criticality.STANDARD, endpoint, "10.0.0.1", 8000, 0, attempt);
  }

  /** What has ended, in this order: {@code attempt a 1 refused}. */
  private List<String> told() {
    return ended.stream()
        .map(
            span ->
                (span.getName()
                        + " "
                        + text(span, "fairlead.endpoint")
                        + " "
                        + text(span, "fairlead.outcome")
                        + " "
                        + text(span, "error.type"))
                    .replaceAll(" +", " ")
                    .strip())
        .toList();
  }

  private static String text(SpanData span, String key) {
    String value = span.getAttributes().get(AttributeKey.stringKey(key));
    return value == null ? "" : value;
  }

  private static Map<String, String> headers(Route route) {
    return route.requestHeaders().stream()
        .collect(Collectors.toMap(Route.Header::name, Route.Header::value));
  }

  @Test
  void anAttemptThatFailsIsFollowedByAnotherDecision() {
    RequestTrace trace = begin(Sampler.alwaysOn(), false);
    trace.submitted(FACTS);
    String first = headers(trace.sent(to("a", 1))).get("traceparent");
    trace.attemptFailed(Failure.REFUSED);
    String second = headers(trace.sent(to("b", 2))).get("traceparent");
    trace.firstByte();
    trace.ended(Outcome.COMPLETED, new Usage(100, 7, -1));
    trace.gone();
    trace.refused(500, "too late");

    assertThat(told())
        .containsExactly(
            "pick a", "attempt a refused", "pick b", "attempt b", "gateway.request completed");
    assertThat(first).matches(".*-" + ended.get(1).getSpanId() + SAMPLED);
    assertThat(second).matches(".*-" + ended.get(3).getSpanId() + SAMPLED);
    assertThat(ended.get(3).getEvents()).hasSize(1);
    assertThat(
            ended.getLast().getAttributes().get(AttributeKey.longKey("gen_ai.usage.output_tokens")))
        .isEqualTo(7);
  }

  @Test
  void anAttemptThatTheCoreGivesUpIsSaidToBe() {
    RequestTrace trace = begin(Sampler.alwaysOn(), false);
    trace.submitted(FACTS);
    trace.sent(to("a", 1));
    trace.sent(to("b", 2));
    trace.left();
    assertThat(told())
        .containsExactly(
            "pick a", "attempt a given_up", "pick b", "attempt b", "gateway.request left");
  }

  @Test
  void whatIsTurnedAwayHasNoAttempt() {
    RequestTrace trace = begin(Sampler.alwaysOn(), false);
    trace.submitted(FACTS);
    trace.rejected(
        new Rejection(Rejection.Reason.NO_READY_ENDPOINTS, Criticality.STANDARD, "nobody"));
    assertThat(told())
        .containsExactly("pick", "gateway.request no_ready_endpoints no_ready_endpoints");
    assertThat(
            ended.getLast().getAttributes().get(AttributeKey.longKey("http.response.status_code")))
        .isEqualTo(503);
  }

  @Test
  void ofOneThatIsNotSampledTheEndpointHearsThat() {
    RequestTrace trace = begin(Sampler.alwaysOff(), true);
    trace.submitted(FACTS);
    Route route = trace.sent(to("a", 1));
    trace.ended(Outcome.COMPLETED, Usage.UNKNOWN);

    assertThat(ended).isEmpty();
    assertThat(headers(route).get("traceparent")).matches(".*" + NOT_SAMPLED);
    assertThat(headers(route)).as("of a trace that does not go on").containsEntry("tracestate", "");
  }
}
