package io.fairlead.epp.frontend.extproc;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.epp.director.Director;
import io.fairlead.epp.director.Exchange;
import io.fairlead.epp.openai.ModelRename;
import io.fairlead.epp.openai.ParsedRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stream's request as its pool knows it: what is told before it was submitted, or once its end is
 * told, is dropped, so that phases need not know.
 */
final class PoolRequest implements Exchange {

  private final ExtProcStream stream;
  private @Nullable Director director;
  private String modelAsked = "";
  private String modelSent = "";
  private boolean streamed;
  private ParsedRequest parsed = ParsedRequest.UNKNOWN;
  private List<Route.Header> responseHeaders = List.of();

  PoolRequest(ExtProcStream stream) {
    this.stream = stream;
  }

  /** Whether the pool takes it. */
  boolean submit(RequestFacts facts, @Nullable WholeBody body) {
    modelAsked = facts.model();
    streamed = facts.delivery().streamed();
    parsed = body == null ? ParsedRequest.UNKNOWN : body.read();
    Director submitted = new Director(stream.context().pool(), stream.loop(), this, stream.trace());
    director = submitted;
    boolean taken =
        body == null
            ? submitted.submit(facts)
            : submitted.submit(facts, stream.path(), () -> body.bytes().bytes().copy());
    if (!taken) {
      director = null;
    }
    return taken;
  }

  /** What plugins add to the response's headers. */
  List<Route.Header> responseHeaders() {
    return responseHeaders;
  }

  /** Whether its answer comes token by token. */
  boolean streamed() {
    return streamed;
  }

  /** What gives an answer of this type the name that was asked for; null where it has that. */
  @Nullable ModelRename rename(String contentType) {
    return ModelRename.of(modelSent, modelAsked, contentType);
  }

  @Override
  public void send(Route route) {
    modelSent = route.targetModel();
    responseHeaders = route.responseHeaders();
    stream.send(route);
  }

  @Override
  public void pass() {
    stream.pass();
  }

  @Override
  public void reject(Rejection rejection) {
    director = null;
    stream.answer(Refusals.of(rejection, stream.path()));
  }

  /** Whether the pool counts it. */
  boolean isThere() {
    return director != null;
  }

  /** The answer that begins is that endpoint's, as the proxy says. */
  void answeredBy(String destination) {
    if (director != null) {
      director.answeredBy(destination);
    }
  }

  /** The endpoint answers with this HTTP status. */
  void status(int status) {
    if (director != null) {
      director.status(status);
    }
  }

  /** The endpoint's answer is a failure: the pool says whether it passes. */
  void judge(Failure failure) {
    if (director != null) {
      director.attemptFailed(failure);
    }
  }

  /** The client gets the endpoint's answer. */
  void answering() {
    if (director != null) {
      director.answering();
    }
  }

  /**
   * More of the answer came.
   *
   * @param good whether what was asked for has begun to come
   */
  void progress(boolean good) {
    if (director != null) {
      if (good) {
        director.firstByte();
      }
      director.progress();
    }
  }

  /** A piece of the answer's body goes to the client, as {@link Director#passed} says. */
  void passed(int bytes, int events) {
    if (director != null) {
      director.passed(bytes, events);
    }
  }

  /** The proxy has the request, and nobody sees what becomes of it. */
  void left() {
    Director leaving = director;
    director = null;
    if (leaving != null) {
      leaving.left();
    }
  }

  /** The endpoint's answer says that it does not know the model. */
  void unknownModel() {
    if (director != null) {
      director.unknownModel();
    }
  }

  /** How it has ended, by an answer with this status that is judged so. */
  Outcome outcome(int status, Outcome judged) {
    return parsed.outcome(status, judged);
  }

  /** It is over. */
  void end(Outcome outcome, Usage usage) {
    Director ended = director;
    director = null;
    if (ended != null) {
      ended.end(outcome, usage);
    }
  }
}
