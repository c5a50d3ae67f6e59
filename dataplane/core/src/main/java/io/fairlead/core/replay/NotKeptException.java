package io.fairlead.core.replay;

/** A plugin has asked for something that receipts don't hold. */
final class NotKeptException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Without a trace: nobody looks for where.
   *
   * @param what it was, to be read after "receipts don't hold"
   */
  NotKeptException(String what) {
    super(what, null, false, false);
  }
}
