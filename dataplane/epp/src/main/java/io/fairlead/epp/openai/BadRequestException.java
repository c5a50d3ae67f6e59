package io.fairlead.epp.openai;

/** A request that no endpoint should see, with the answer for its sender. */
public final class BadRequestException extends Exception {

  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;
  private final int retryAfterSeconds;

  /**
   * An answer for the sender.
   *
   * @param status HTTP status
   * @param code machine-readable name for the error body's {@code code}
   * @param message what is wrong and what would be right; names the field, never quotes the prompt
   */
  public BadRequestException(int status, String code, String message) {
    this(status, code, message, -1);
  }

  /**
   * An answer for a sender who may try again.
   *
   * @param status HTTP status
   * @param code machine-readable name for the error body's {@code code}
   * @param message what is wrong and what would be right; names the field, never quotes the prompt
   * @param retryAfterSeconds for {@code Retry-After}, or -1 for none
   */
  public BadRequestException(int status, String code, String message, int retryAfterSeconds) {
    super(message, null, false, false);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Too many requests wait for a decision. */
  public static BadRequestException pickerBusy() {
    return new BadRequestException(
        503,
        ErrorCodes.PICKER_BUSY,
        "Too many requests wait to be sent to an endpoint; try again.",
        1);
  }

  /** HTTP status. */
  public int status() {
    return status;
  }

  /** Machine-readable name. */
  public String code() {
    return code;
  }

  /** Seconds after which to try again, or -1. */
  public int retryAfterSeconds() {
    return retryAfterSeconds;
  }
}
