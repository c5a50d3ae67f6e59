package io.fairlead.core;

/** How a request that was sent has ended. */
public enum Outcome {
  /** The whole response was delivered, whatever its status below 500. */
  COMPLETED("completed"),
  /** The endpoint answered with a 5xx, or broke off after its first byte. */
  FAILED("failed"),
  /** The client went away. */
  DISCONNECTED("disconnected");

  private final String code;

  Outcome(String code) {
    this.code = code;
  }

  /** Name used in metrics. */
  public String code() {
    return code;
  }
}
