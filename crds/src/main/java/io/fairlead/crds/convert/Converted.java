package io.fairlead.crds.convert;

import io.fairlead.crds.document.FieldError;
import java.util.List;

/**
 * What became of some files.
 *
 * @param text the objects, one YAML document after the other, in their order
 * @param lost what the objects said and do not say any more, by field
 * @param failed what could not be read or converted; such documents are in {@code text} as they
 *     were
 */
public record Converted(String text, List<FieldError> lost, List<FieldError> failed) {
  public Converted {
    lost = List.copyOf(lost);
    failed = List.copyOf(failed);
  }
}
