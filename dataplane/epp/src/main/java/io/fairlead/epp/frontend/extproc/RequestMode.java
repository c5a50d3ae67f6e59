package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.fairlead.core.Route;

/** How a proxy shows a request, and how it is told where that goes. */
enum RequestMode {

  /**
   * Headers, then the body in pieces. The headers' answer waits for the pool's decision; the body
   * and its trailers follow it.
   */
  FULL_DUPLEX {
    @Override
    boolean showsBody(HttpHeaders headers) {
      return !headers.getEndOfStream();
    }

    @Override
    void send(ExtProcStream stream, Deciding decided, Route route) {
      RequestHead head = decided.head();
      WholeBody body = decided.body();
      if (body == null) {
        stream.tell(Answers.destination(route, -1, head.headers()));
        stream.requestSent();
        return;
      }
      RequestBody outgoing = body.askingFor(route.targetModel());
      boolean changed = head.contentLength() >= 0 && outgoing.size() != body.length();
      stream.tell(Answers.destination(route, changed ? outgoing.size() : -1, head.headers()));
      stream.become(new SendingRequest(outgoing, body, decided.trailers()));
    }
  };

  /** Whether a body follows these headers. */
  abstract boolean showsBody(HttpHeaders headers);

  /** Tells the proxy where the request goes; the stream is in its next phase then. */
  abstract void send(ExtProcStream stream, Deciding decided, Route route);
}
