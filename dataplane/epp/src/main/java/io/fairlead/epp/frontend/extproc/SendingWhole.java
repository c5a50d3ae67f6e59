package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;

/**
 * The request is on its way to the proxy in one message, which may have all of its body. It stays
 * charged until the proxy takes messages again: until then this one is in memory.
 */
record SendingWhole(WholeBody held) implements RequestPhase {

  @Override
  public String state() {
    return "being sent";
  }

  @Override
  public void body(ExtProcStream stream, HttpBody piece) {
    Sent.ignoreSecondEnd(stream, piece);
  }

  @Override
  public void trailers(ExtProcStream stream) {
    stream.tell(Answers.REQUEST_TRAILERS);
  }

  @Override
  public void proceed(ExtProcStream stream) {
    if (stream.takesMessages()) {
      held.release();
      stream.requestSent();
    }
  }

  @Override
  public void release() {
    held.release();
  }
}
