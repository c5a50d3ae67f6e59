package io.fairlead.epp.frontend.extproc;

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
    stream.mode().request().send(stream, this, route);
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
