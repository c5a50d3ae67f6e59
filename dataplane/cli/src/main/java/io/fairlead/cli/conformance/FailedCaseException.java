package io.fairlead.cli.conformance;

import java.io.Serial;

/** A scheduler did not do what a case wants. */
final class FailedCaseException extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  /**
   * What was wrong.
   *
   * @param problem what it did, what is expected, and where to look
   */
  FailedCaseException(String problem) {
    super(problem);
  }
}
