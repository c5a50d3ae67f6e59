package io.fairlead.epp.frontend.extproc;

/** Nothing has come. */
record Opened() implements RequestPhase {

  static final Opened PHASE = new Opened();

  @Override
  public String state() {
    return "not begun";
  }

  @Override
  public void headers(ExtProcStream stream, ProxyMessage message) {
    RequestHead head = RequestHead.of(message);
    if (stream.mode().request().showsBody(message)) {
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
