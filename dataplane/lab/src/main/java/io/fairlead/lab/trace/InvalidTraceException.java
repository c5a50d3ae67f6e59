package io.fairlead.lab.trace;

import java.nio.file.Path;

/** A trace can't be used. The message names file, line and field, and says what is wrong. */
public final class InvalidTraceException extends IllegalArgumentException {

  private static final long serialVersionUID = 1L;

  InvalidTraceException(Path file, String problem) {
    super(file + ": " + problem);
  }

  /**
   * In one line of a file.
   *
   * @param line counted from 1
   */
  InvalidTraceException(Path file, int line, String problem) {
    super(file + ":" + line + ": " + problem);
  }
}
