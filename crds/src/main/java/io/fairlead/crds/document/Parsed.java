package io.fairlead.crds.document;

import java.util.List;

/**
 * A document that was read.
 *
 * @param value what it says
 * @param warnings what it says that this release does not carry out
 */
public record Parsed<T>(T value, List<FieldError> warnings) {
  public Parsed {
    warnings = List.copyOf(warnings);
  }
}
