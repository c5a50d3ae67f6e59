package io.fairlead.core;

/** How a request that was sent has ended. */
public enum Outcome {
  /** The whole response was delivered, and its status is below 300. */
  COMPLETED("completed"),
  /**
   * The endpoint answered that it does not know the model (404), or takes no more (429); or it
   * answered below 300 with nothing of what was asked for, such as an error without a known code.
   */
  REFUSED("refused"),
  /**
   * The endpoint answered that something is wrong with the request, or where it was sent (any other
   * status from 300 to 499): its client's mistake, unless this endpoint says so of all.
   */
  INVALID("invalid"),
  /** The endpoint answered with a 5xx, or broke off after its first byte. */
  FAILED("failed"),
  /** The client went away. */
  DISCONNECTED("disconnected");

  private final String code;

  Outcome(String code) {
    this.code = code;
  }

  /**
   * Of a response that was delivered as a whole.
   *
   * @param nothing whether its body is known to be no answer to what was asked; of no matter where
   *     the status says that it is an error
   */
  public static Outcome of(int status, boolean nothing) {
    if (status >= 500) {
      return FAILED;
    }
    if (status == 404 || status == 429) {
      return REFUSED;
    }
    if (status >= 300) {
      return INVALID;
    }
    return nothing ? REFUSED : COMPLETED;
  }

  /** Name used in metrics. */
  public String code() {
    return code;
  }
}
