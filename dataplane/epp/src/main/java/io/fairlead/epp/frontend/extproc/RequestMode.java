package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.fairlead.core.Route;
import io.fairlead.epp.openai.BadRequestException;

/** How a proxy shows a request, and how it is told where that goes. */
enum RequestMode {

  /**
   * Headers, then the body in pieces. The headers' answer waits for the pool's decision; the body
   * and its trailers follow it.
   */
  FULL_DUPLEX {
    @Override
    boolean isWhole(HttpBody piece) {
      return piece.getEndOfStream();
    }

    @Override
    void send(ExtProcStream stream, Deciding decided, WholeBody body, Route route) {
      RequestHead head = decided.head();
      RequestBody outgoing = body.askingFor(route.targetModel());
      boolean changed = head.contentLength() >= 0 && outgoing.size() != body.length();
      stream.tell(
          Answers.destination(
              route, stream.destination(route), changed ? outgoing.size() : -1, head.headers()));
      stream.become(new SendingRequest(outgoing, body, decided.trailers()));
    }
  },

  /** Headers, and once these are answered the whole body. The request waits for its answer. */
  BUFFERED {
    @Override
    boolean comesAtOnce() {
      return true;
    }

    @Override
    void awaitBody(ExtProcStream stream) {
      stream.tell(Answers.REQUEST_HEADERS);
      stream.patience().begin(BUFFERED_PATIENCE);
    }

    @Override
    void send(ExtProcStream stream, Deciding decided, WholeBody body, Route route) {
      sendAtOnce(stream, decided, body, route);
    }
  },

  /** The same, but of a body that is longer than the proxy's buffer only the beginning. */
  BUFFERED_PARTIAL {
    @Override
    boolean comesAtOnce() {
      return true;
    }

    @Override
    void awaitBody(ExtProcStream stream) {
      BUFFERED.awaitBody(stream);
    }

    @Override
    void send(ExtProcStream stream, Deciding decided, WholeBody body, Route route) {
      sendAtOnce(stream, decided, body, route);
    }

    @Override
    boolean mayBeCut(HttpBody piece) {
      return !piece.getEndOfStream();
    }
  },

  /** Headers alone: which model is asked for stays unknown. */
  HEADERS_ONLY {
    @Override
    boolean showsBody(ProxyMessage headers) {
      return false;
    }

    @Override
    void send(ExtProcStream stream, Deciding decided, WholeBody body, Route route) {
      throw new IllegalStateException("a body was read that is not shown");
    }
  };

  /** So many times longer a body may take of which nothing is shown before all of it is there. */
  private static final int BUFFERED_PATIENCE = 5;

  private static final String SERVED = "FULL_DUPLEX_STREAMED, BUFFERED or NONE";

  /** The mode of that name. */
  static RequestMode of(BodySendMode mode) throws BadRequestException {
    return switch (mode) {
      case FULL_DUPLEX_STREAMED -> FULL_DUPLEX;
      case BUFFERED -> BUFFERED;
      case BUFFERED_PARTIAL -> BUFFERED_PARTIAL;
      case NONE -> HEADERS_ONLY;
      // Its headers must be answered before the body is shown, and go to the endpoint then.
      case STREAMED, UNRECOGNIZED -> throw Mode.notServed("request_body_mode", mode, SERVED);
    };
  }

  /** Whether a body follows these headers. */
  boolean showsBody(ProxyMessage headers) {
    return !headers.headersAreAll();
  }

  /** Whether nothing of a body is shown before all of it can be. */
  boolean comesAtOnce() {
    return false;
  }

  /** There is room for the body: it may come. */
  void awaitBody(ExtProcStream stream) {
    stream.patience().begin(1);
  }

  /** Whether nothing of the body comes after this piece. */
  boolean isWhole(HttpBody piece) {
    return true;
  }

  /** Whether this piece may be the beginning of a body whose rest is never shown. */
  boolean mayBeCut(HttpBody piece) {
    return false;
  }

  /** Tells the proxy where the request goes; the stream is in its next phase then. */
  abstract void send(ExtProcStream stream, Deciding decided, WholeBody body, Route route);

  private static void sendAtOnce(
      ExtProcStream stream, Deciding decided, WholeBody body, Route route) {
    RequestHead head = decided.head();
    if (body.asksFor(route.targetModel())) {
      stream.tell(Answers.destination(route, stream.destination(route), null, -1, head.headers()));
    } else {
      RequestBody outgoing = body.askingFor(route.targetModel());
      boolean declared = head.contentLength() >= 0;
      stream.tell(
          Answers.destination(
              route,
              stream.destination(route),
              outgoing.all(),
              declared ? outgoing.size() : -1,
              head.headers()));
    }
    if (decided.trailers()) {
      stream.tell(Answers.REQUEST_TRAILERS);
    }
    body.handOver();
    stream.become(new SendingWhole(body));
  }
}
