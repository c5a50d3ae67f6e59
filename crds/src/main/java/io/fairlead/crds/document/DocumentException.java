package io.fairlead.crds.document;

import java.util.List;
import java.util.stream.Collectors;

/** A document that is not used, with all that is wrong with it. */
public final class DocumentException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient List<FieldError> errors;

  public DocumentException(List<FieldError> errors) {
    super(errors.stream().map(FieldError::toString).collect(Collectors.joining("\n")));
    this.errors = List.copyOf(errors);
  }

  /** At least one error, in the order of the checks. */
  public List<FieldError> errors() {
    return errors;
  }
}
