package io.fairlead.epp.frontend.extproc;

/** The proxy has the whole request. */
record Sent() implements RequestPhase {

  static final Sent PHASE = new Sent();

  @Override
  public String state() {
    return "sent";
  }
}
