package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.fairlead.core.Route;

/**
 * How far a stream's request is. A phase holds what it needs, takes what may come while it lasts
 * and goes over to the next one; what must not come ends the stream.
 */
sealed interface RequestPhase
    permits Opened,
        ReadingRequest,
        Deciding,
        SendingRequest,
        SendingWhole,
        Sent,
        AnsweredByProxy,
        Over {

  /** What is told of it to a proxy that broke the protocol. */
  String state();

  default void headers(ExtProcStream stream, ProxyMessage message) {
    stream.unexpected("request_headers");
  }

  default void body(ExtProcStream stream, HttpBody piece) {
    stream.unexpected("request_body");
  }

  default void trailers(ExtProcStream stream) {
    stream.unexpected("request_trailers");
  }

  /** The pool has decided. */
  default void send(ExtProcStream stream, Route route) {
    throw new IllegalStateException("nothing was to be decided: the request is " + state());
  }

  /** The response comes, whether or not the request was sent. */
  default void responseBegins(ExtProcStream stream) {}

  /** The proxy kept silent for too long where it had to go on. */
  default void silent(ExtProcStream stream) {
    stream.giveUp();
  }

  /** Tells the proxy what it takes now. */
  default void proceed(ExtProcStream stream) {}

  /** Whether there is room for the next message. */
  default boolean hasRoom() {
    return true;
  }

  /** Nobody needs what it holds any more. Once more is no harm. */
  default void release() {}
}
