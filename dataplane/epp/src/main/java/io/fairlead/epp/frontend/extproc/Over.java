package io.fairlead.epp.frontend.extproc;

/** The stream is left, or has ended in another way. */
record Over() implements RequestPhase {

  static final Over PHASE = new Over();

  @Override
  public String state() {
    return "over";
  }
}
