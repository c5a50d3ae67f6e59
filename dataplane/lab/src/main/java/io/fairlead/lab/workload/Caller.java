package io.fairlead.lab.workload;

/**
 * Who asks, and whom.
 *
 * @param model the model asked for
 * @param tenant empty for nobody's in particular
 */
record Caller(String model, String tenant) {

  /** Somebody who asks the base model. */
  static final Caller ANYBODY = new Caller("base", "");
}
