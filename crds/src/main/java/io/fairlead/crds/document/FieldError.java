package io.fairlead.crds.document;

/**
 * One thing wrong with one field of one document.
 *
 * @param file name of the file, or of whatever else the text came from
 * @param line line from 1; 0 where it is not known
 * @param path the field; empty for the document as a whole
 * @param message what was found, and what is expected or how to fix it
 */
public record FieldError(String file, int line, String path, String message) {
  /** {@code file:line: path: message}, without the parts that are not known. */
  @Override
  public String toString() {
    return file
        + (line > 0 ? ":" + line : "")
        + ": "
        + (path.isEmpty() ? "" : path + ": ")
        + message;
  }
}
