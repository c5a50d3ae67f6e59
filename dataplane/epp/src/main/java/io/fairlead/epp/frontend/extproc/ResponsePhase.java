package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.fairlead.core.Usage;

/** How far a stream's response is. What must not come while a phase lasts ends the stream. */
sealed interface ResponsePhase permits ResponseAwaited, ResponseJudged, PassingResponse {

  /** What is told of it to a proxy that broke the protocol. */
  String state();

  default void headers(ExtProcStream stream, ProxyMessage message) {
    stream.unexpected("response_headers");
  }

  default void body(ExtProcStream stream, HttpBody piece) {
    stream.unexpected("response_body");
  }

  default void trailers(ExtProcStream stream) {
    stream.unexpected("response_trailers");
  }

  /** The core gives the response that was judged to the client. */
  default void pass(ExtProcStream stream) {}

  /** Whether the next message may come. */
  default boolean wantsMore() {
    return true;
  }

  /** Whether something that the proxy has shown was not given back yet. */
  default boolean holds() {
    return false;
  }

  /** Whether names of models in it are replaced as it passes. */
  default boolean renames() {
    return false;
  }

  /** What the response has told so far. */
  default Usage usage() {
    return Usage.UNKNOWN;
  }
}
