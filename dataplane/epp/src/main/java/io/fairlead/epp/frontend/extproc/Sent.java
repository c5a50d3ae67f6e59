package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;

/** The proxy has the whole request. */
record Sent() implements RequestPhase {

  static final Sent PHASE = new Sent();

  /** A proxy may say twice that a body is over, but not send more of it. */
  static void ignoreSecondEnd(ExtProcStream stream, HttpBody piece) {
    if (!piece.getBody().isEmpty()) {
      stream.unexpected("request_body");
    }
  }

  @Override
  public String state() {
    return "sent";
  }

  @Override
  public void body(ExtProcStream stream, HttpBody piece) {
    ignoreSecondEnd(stream, piece);
  }

  /** Where the body was shown in one piece they come after its answer. */
  @Override
  public void trailers(ExtProcStream stream) {
    stream.tell(Answers.REQUEST_TRAILERS);
  }
}
