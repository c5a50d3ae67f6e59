package io.fairlead.epp.tracing;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The spans of one request: the request itself, each decision where it goes, and each attempt at an
 * endpoint, whose own span is a child of that. Sizes and names are told, nothing of a prompt.
 *
 * <p>On the loop of the frontend. Once the request is over, what is told is dropped.
 */
public final class RequestTrace {

  static final String STATE = "tracestate";
  static final AttributeKey<String> FRONTEND = AttributeKey.stringKey("fairlead.frontend");

  private static final AttributeKey<String> MODEL = AttributeKey.stringKey("gen_ai.request.model");
  private static final AttributeKey<Boolean> STREAMED =
      AttributeKey.booleanKey("fairlead.streamed");
  private static final AttributeKey<Long> BODY = AttributeKey.longKey("http.request.body.size");
  private static final AttributeKey<String> TARGET =
      AttributeKey.stringKey("fairlead.target_model");
  private static final AttributeKey<String> ENDPOINT = AttributeKey.stringKey("fairlead.endpoint");
  private static final AttributeKey<String> CRITICALITY =
      AttributeKey.stringKey("fairlead.criticality");
  private static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("fairlead.attempt");
  private static final AttributeKey<Long> PROMPT = AttributeKey.longKey("fairlead.prompt_tokens");
  private static final AttributeKey<Long> CACHED = AttributeKey.longKey("fairlead.cached_tokens");
  private static final AttributeKey<String> ADDRESS = AttributeKey.stringKey("server.address");
  private static final AttributeKey<Long> PORT = AttributeKey.longKey("server.port");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");
  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("fairlead.outcome");
  private static final AttributeKey<Long> INPUT = AttributeKey.longKey("gen_ai.usage.input_tokens");
  private static final AttributeKey<Long> OUTPUT =
      AttributeKey.longKey("gen_ai.usage.output_tokens");

  private final Tracer tracer;
  private final Span request;
  private final Context inRequest;
  private final boolean staleState;
  private @Nullable Span pick;
  private @Nullable Span attempt;
  private boolean over;

  /**
   * The request's span has begun.
   *
   * @param staleState whether the caller told the state of a trace and not which
   */
  RequestTrace(Tracer tracer, Span request, boolean staleState) {
    this.tracer = tracer;
    this.request = request;
    this.staleState = staleState;
    inRequest = Context.root().with(request);
  }

  /** It is read, and to be decided about. */
  public void submitted(RequestFacts facts) {
    request.setAttribute(MODEL, facts.model());
    request.setAttribute(STREAMED, facts.delivery().streamed());
    request.setAttribute(BODY, facts.bodyBytes());
    decide();
  }

  private void decide() {
    if (request.isRecording()) {
      pick = tracer.spanBuilder("pick").setParent(inRequest).startSpan();
    }
  }

  /**
   * It is sent there; an attempt that is under way elsewhere is given up.
   *
   * @return the same route, by which the endpoint learns of the attempt's span
   */
  public Route sent(Route route) {
    if (over) {
      return route;
    }
    endAttempt("given_up");
    if (!request.isRecording()) {
      return told(route, inRequest);
    }
    if (pick == null) {
      decide(); // the core sent it elsewhere of itself
    }
    endPick(route);
    Span next =
        tracer
            .spanBuilder("attempt")
            .setParent(inRequest)
            .setSpanKind(SpanKind.CLIENT)
            .setAttribute(ATTEMPT, (long) route.attempt())
            .setAttribute(ENDPOINT, route.endpoint())
            .setAttribute(ADDRESS, route.address())
            .setAttribute(PORT, (long) route.port())
            .startSpan();
    attempt = next;
    return told(route, inRequest.with(next));
  }

  private void endPick(Route route) {
    Span decided = pick;
    pick = null;
    if (decided != null) {
      decided.setAttribute(ENDPOINT, route.endpoint());
      decided.setAttribute(TARGET, route.targetModel());
      decided.setAttribute(CRITICALITY, route.criticality().wireName().toLowerCase(Locale.ROOT));
      decided.setAttribute(ATTEMPT, (long) route.attempt());
      decided.setAttribute(PROMPT, (long) route.promptTokens());
      decided.setAttribute(CACHED, (long) route.expectedCachedTokens());
      decided.end();
    }
  }

  private Route told(Route route, Context parent) {
    List<Route.Header> headers = new ArrayList<>(route.requestHeaders());
    W3CTraceContextPropagator.getInstance()
        .inject(
            parent,
            headers,
            (all, name, value) -> {
              if (all != null) {
                all.add(new Route.Header(name, value));
              }
            });
    if (staleState) {
      headers.add(new Route.Header(STATE, "")); // it is of no trace that goes on
    }
    return new Route(
        route.targetModel(),
        route.criticality(),
        route.endpoint(),
        route.address(),
        route.port(),
        route.matchedBlocks(),
        route.promptTokens(),
        route.expectedCachedTokens(),
        route.attempt(),
        route.fallbacks(),
        headers,
        route.responseHeaders());
  }

  /** The endpoint failed it, and the core decides again. */
  public void attemptFailed(Failure how) {
    if (!over) {
      endAttempt(how.name().toLowerCase(Locale.ROOT));
      decide();
    }
  }

  /** Nobody else gets it: the answer with which the endpoint failed it is passed on. */
  public void passed() {
    endPick();
  }

  /** The first byte of a good answer came. */
  public void firstByte() {
    if (attempt != null) {
      attempt.addEvent("first byte");
    }
  }

  /** It was answered by the endpoint, to the end or not. */
  public void ended(Outcome outcome, Usage usage) {
    if (usage.promptTokens() >= 0) {
      request.setAttribute(INPUT, (long) usage.promptTokens());
    }
    if (usage.completionTokens() >= 0) {
      request.setAttribute(OUTPUT, (long) usage.completionTokens());
    }
    end(outcome.code(), outcome == Outcome.FAILED);
  }

  /** It was sent, and nobody sees how it ends. */
  public void left() {
    end("left", false);
  }

  /** The pool turned it away, or broke it off. */
  public void rejected(Rejection rejection) {
    refused(rejection.reason().status(), rejection.reason().code());
  }

  /** It was answered with an error of ours. */
  public void refused(int status, String code) {
    if (!over) {
      request.setAttribute(STATUS, (long) status);
      end(code, status >= 500);
    }
  }

  /** The client left before it was read. */
  public void gone() {
    end(Outcome.DISCONNECTED.code(), false);
  }

  private void end(String outcome, boolean failed) {
    if (over) {
      return;
    }
    over = true;
    endAttempt(failed ? outcome : "");
    endPick();
    request.setAttribute(OUTCOME, outcome);
    if (failed) {
      request.setAttribute(ERROR, outcome);
      request.setStatus(StatusCode.ERROR);
    }
    request.end();
  }

  private void endPick() {
    if (pick != null) {
      pick.end();
      pick = null;
    }
  }

  /**
   * Ends the attempt that is under way.
   *
   * @param error how it failed; empty if it didn't
   */
  private void endAttempt(String error) {
    Span ended = attempt;
    attempt = null;
    if (ended != null) {
      if (!error.isEmpty()) {
        ended.setAttribute(ERROR, error);
        ended.setStatus(StatusCode.ERROR);
      }
      ended.end();
    }
  }
}
