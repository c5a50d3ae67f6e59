package io.fairlead.plugin;

/** A plugin's setting is missing, of the wrong type or out of range. */
public final class InvalidParameterException extends IllegalArgumentException {

  private static final long serialVersionUID = 1L;

  private final String field;

  /**
   * @param field name of the setting, e.g. {@code queueDepthThreshold}
   * @param message what is wrong and what would be right
   */
  public InvalidParameterException(String field, String message) {
    super(message);
    this.field = field;
  }

  /** Name of the setting. */
  public String field() {
    return field;
  }
}
