package io.fairlead.core.plugins.compat;

import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.Parameters;
import java.util.Locale;

/** Settings that are texts of a certain kind. */
public final class Texts {

  private Texts() {}

  /** A text that must be set. */
  public static String required(Parameters parameters, String field) {
    String value = parameters.text(field, "");
    if (value.isEmpty()) {
      throw parameters.invalid(field, "is not set; set a text");
    }
    return value;
  }

  /** The name of a header, as requests have it: in lower case. */
  public static String header(Parameters parameters, String field, String absent) {
    String name = parameters.text(field, absent).toLowerCase(Locale.ROOT);
    if (!name.chars().allMatch(Texts::inHeaderName)) {
      throw parameters.invalid(
          field, "is \"" + name + "\"; set a header name of letters, digits, -, _ and .");
    }
    return name;
  }

  /** The name of a header that the plugin also sets. */
  public static String ownHeader(Parameters parameters, String field, String absent) {
    String name = header(parameters, field, absent);
    if (HeaderWriter.RESERVED.contains(name)) {
      throw parameters.invalid(
          field, "is \"" + name + "\", which frames messages; set a header of your own");
    }
    return name;
  }

  /** The name of a header that must be set. */
  public static String requiredHeader(Parameters parameters, String field) {
    return header(parameters, field, required(parameters, field));
  }

  private static boolean inHeaderName(int c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  }
}
