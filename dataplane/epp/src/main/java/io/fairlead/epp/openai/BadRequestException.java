package io.fairlead.epp.openai;

/** A request that no endpoint should see, with the answer for its sender. */
public final class BadRequestException extends Exception {

  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;

  /**
   * An answer for the sender.
   *
   * @param status HTTP status, 4xx
   * @param code machine-readable name for the error body's {@code code}
   * @param message what is wrong and what would be right; names the field, never quotes the prompt
   */
  public BadRequestException(int status, String code, String message) {
    super(message, null, false, false);
    this.status = status;
    this.code = code;
  }

  /** HTTP status. */
  public int status() {
    return status;
  }

  /** Machine-readable name. */
  public String code() {
    return code;
  }
}
