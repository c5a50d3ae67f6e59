package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;

/** Nothing has come of the response. */
record ResponseAwaited() implements ResponsePhase {

  static final ResponseAwaited PHASE = new ResponseAwaited();

  @Override
  public String state() {
    return "awaited";
  }

  @Override
  public void headers(ExtProcStream stream, HttpHeaders headers) {
    stream.responseBegins();
    if (stream.isOver()) {
      return;
    }
    PassingResponse response = PassingResponse.of(headers);
    if (response.failed() && stream.atPool().isThere()) {
      stream.become(new ResponseJudged(response));
      stream.atPool().judge(response.failure());
    } else {
      response.begin(stream);
    }
  }
}
