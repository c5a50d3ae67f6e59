package io.fairlead.crds.compile;

import org.jspecify.annotations.Nullable;

/**
 * What {@code spec.schedulingFrom} of an EndpointPicker leads to; one of the two is null.
 *
 * @param text the document
 * @param problem why there is none, and the next step, to be read after the field's path
 */
public record SchedulingText(@Nullable String text, @Nullable String problem) {

  /** Where there is no cluster to look in. */
  static final SchedulingText NOT_FOLLOWED =
      none("is followed by the operator alone; set spec.scheduling here");

  /** The document. */
  public static SchedulingText of(String text) {
    return new SchedulingText(text, null);
  }

  /** There is none. */
  public static SchedulingText none(String problem) {
    return new SchedulingText(null, problem);
  }
}
