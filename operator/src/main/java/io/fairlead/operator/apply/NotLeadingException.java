package io.fairlead.operator.apply;

/** A write that is not sent, since whether this process still leads is not known. */
public final class NotLeadingException extends RuntimeException {

  public NotLeadingException(String message) {
    super(message);
  }
}
