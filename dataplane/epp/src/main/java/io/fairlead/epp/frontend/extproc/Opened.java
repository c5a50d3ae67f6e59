package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;

/** Nothing has come. */
record Opened() implements RequestPhase {

  static final Opened PHASE = new Opened();

  @Override
  public String state() {
    return "not begun";
  }

  @Override
  public void headers(ExtProcStream stream, ProcessingRequest message) {
    RequestHead head = RequestHead.of(message);
    if (stream.mode().request().showsBody(message.getRequestHeaders())) {
      ReadingRequest.begin(stream, head);
    } else {
      stream.decide(new Deciding(head, null, false), head.facts(stream.context()));
    }
  }

  /** Another filter before this one has answered the request. */
  @Override
  public void responseBegins(ExtProcStream stream) {
    stream.answeredByProxy();
  }
}
