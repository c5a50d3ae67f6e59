package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.fairlead.core.Route;
import org.jspecify.annotations.Nullable;

/**
 * The request is whole, and the pool has the word.
 *
 * @param body null where none is shown
 * @param trailers whether trailers follow the body
 */
record Deciding(RequestHead head, @Nullable WholeBody body, boolean trailers)
    implements RequestPhase {

  @Override
  public String state() {
    return "being decided";
  }

  @Override
  public void send(ExtProcStream stream, Route route) {
    if (body != null) {
      stream.mode().request().send(stream, this, body, route);
      return;
    }
    stream.tell(Answers.destination(route, stream.destination(route), -1, head.headers()));
    if (trailers) {
      stream.tell(Answers.REQUEST_TRAILERS);
    }
    stream.requestSent();
  }

  @Override
  public void body(ExtProcStream stream, HttpBody piece) {
    Sent.ignoreSecondEnd(stream, piece);
  }

  @Override
  public void trailers(ExtProcStream stream) {
    stream.become(new Deciding(head, body, true));
  }

  @Override
  public void responseBegins(ExtProcStream stream) {
    stream.answeredByProxy();
  }

  @Override
  public void release() {
    if (body != null) {
      body.release();
    }
  }
}
