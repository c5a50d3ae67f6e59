package io.fairlead.operator.observe;

import java.util.regex.Pattern;

/** What objects can be called that are asked for by a name out of somebody's spec. */
public final class ObjectNames {
  private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");

  private ObjectNames() {}

  /** Whether an object can have the name; what cannot must not become part of a request's path. */
  public static boolean isOne(String name) {
    return NAME.matcher(name).matches() && !name.contains("..");
  }
}
