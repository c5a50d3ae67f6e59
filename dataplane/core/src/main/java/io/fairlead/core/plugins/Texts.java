package io.fairlead.core.plugins;

import io.fairlead.plugin.Parameters;
import java.util.Locale;

/** Settings that are texts of a certain kind. */
final class Texts {

  private Texts() {}

  /** A text that must be set. */
  static String required(Parameters parameters, String field) {
    String value = parameters.text(field, "");
    if (value.isEmpty()) {
      throw parameters.invalid(field, "is not set; set a text");
    }
    return value;
  }

  /** The name of a header, as requests have it: in lower case. */
  static String header(Parameters parameters, String field, String absent) {
    return parameters.text(field, absent).toLowerCase(Locale.ROOT);
  }
}
