package io.fairlead.epp.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.tracing.Collector.Received;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import java.util.Comparator;
import java.util.List;

/** The spans of one request, joined from its caller to the model server. */
public record Chain(
    Received request, List<Received> picks, List<Received> attempts, List<Received> engine) {

  /** Whoever asks in the tests. */
  public static final String CALLER = "00f067aa0ba902b7";

  /**
   * Checks that each span is the child of the one that it is to be of.
   *
   * @param attempts how many of them there must be
   */
  public static Chain of(List<Received> spans, int attempts) {
    Chain chain =
        new Chain(
            named(spans, "gateway.request").getFirst(),
            named(spans, "pick"),
            named(spans, "attempt"),
            named(spans, "llm_request"));
    assertThat(named(spans, "gateway.request")).hasSize(1);
    assertThat(chain.request.parent()).as("child of the caller's").isEqualTo(CALLER);
    assertThat(chain.request.span().getKind()).isEqualTo(SpanKind.SPAN_KIND_SERVER);
    assertThat(chain.picks)
        .hasSize(attempts)
        .allSatisfy(pick -> assertThat(pick.parent()).isEqualTo(chain.request.id()));
    assertThat(chain.attempts)
        .hasSize(attempts)
        .allSatisfy(
            attempt -> {
              assertThat(attempt.parent()).isEqualTo(chain.request.id());
              assertThat(attempt.span().getKind()).isEqualTo(SpanKind.SPAN_KIND_CLIENT);
            });
    assertThat(chain.engine).extracting(Received::service).containsOnly("stub");
    assertThat(chain.engine)
        .extracting(Received::parent)
        .as("each attempt has the span of its model server as its child")
        .containsExactlyInAnyOrderElementsOf(chain.attempts.stream().map(Received::id).toList());
    return chain;
  }

  private static List<Received> named(List<Received> spans, String name) {
    return spans.stream()
        .filter(one -> one.span().getName().equals(name))
        .sorted(Comparator.comparingLong(one -> one.span().getStartTimeUnixNano()))
        .toList();
  }
}
