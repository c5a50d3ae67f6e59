package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;

/**
 * The proxy answers the client itself, before the request was sent: the rest of that is of no use.
 */
record AnsweredByProxy() implements RequestPhase {

  static final AnsweredByProxy PHASE = new AnsweredByProxy();

  @Override
  public String state() {
    return "answered by the proxy";
  }

  @Override
  public void body(ExtProcStream stream, HttpBody piece) {}

  @Override
  public void trailers(ExtProcStream stream) {}
}
