package io.fairlead.epp.frontend.extproc;

/**
 * The response's headers are held: it is a failure, and the core says whether the client gets it.
 * No more of it is asked of the proxy meanwhile.
 */
record ResponseJudged(PassingResponse response) implements ResponsePhase {

  @Override
  public String state() {
    return "being judged";
  }

  @Override
  public void pass(ExtProcStream stream) {
    response.begin(stream);
  }

  @Override
  public boolean wantsMore() {
    return false;
  }
}
