package io.fairlead.stub.server;

import io.netty.handler.codec.http.HttpHeaders;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import org.jspecify.annotations.Nullable;

/** A completion as a span, a child of its caller's, under the name that vLLM gives it. */
final class CompletionSpan {

  private static final String NAME = "llm_request";

  private static final TextMapGetter<HttpHeaders> HEADERS =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(HttpHeaders headers) {
          return headers.names();
        }

        @Override
        public @Nullable String get(@Nullable HttpHeaders headers, String name) {
          return headers == null ? null : headers.get(name);
        }
      };

  private CompletionSpan() {}

  static Span begin(Tracer tracer, String server, HttpHeaders headers) {
    Context caller =
        W3CTraceContextPropagator.getInstance().extract(Context.root(), headers, HEADERS);
    return tracer
        .spanBuilder(NAME)
        .setParent(caller)
        .setSpanKind(SpanKind.SERVER)
        .setAttribute("stub.name", server)
        .startSpan();
  }
}
